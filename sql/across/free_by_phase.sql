-- One row is a phase of passes of a server and a cause of idle time in such passes, or before them, over all ranks, the longest
-- first.
--
-- @columns phase to share as in free.by_phase
WITH total AS (
    SELECT
        phase,
        is_before,
        cause,
        sum(pass_count)::BIGINT AS pass_count,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM free.by_phase
    GROUP BY phase, is_before, cause
)
SELECT *, total_ns / nullif(sum(total_ns) OVER (PARTITION BY phase), 0) AS share
FROM total
ORDER BY total_ns DESC, phase, is_before, cause
