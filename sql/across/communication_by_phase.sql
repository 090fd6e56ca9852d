-- One row is a phase of passes of a server, and a type and group of communication operators in it, with their number and times
-- over all ranks, the largest total time of each phase first.
--
-- @columns phase to share as in communication.by_phase
WITH total AS (
    SELECT
        phase,
        type,
        group_name,
        sum(op_count)::BIGINT AS op_count,
        sum(total_ns)::BIGINT AS total_ns,
        sum(exposed_ns)::BIGINT AS exposed_ns
    FROM communication.by_phase
    GROUP BY phase, type, group_name
)
SELECT *, total_ns / nullif(sum(total_ns) OVER (PARTITION BY phase), 0) AS share
FROM total
ORDER BY sum(total_ns) OVER (PARTITION BY phase) DESC, phase, total_ns DESC, type, group_name
