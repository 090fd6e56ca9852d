-- One row is a phase of passes of a server and a framework op, with its calls and their cost over all ranks, the largest own
-- device time of each phase first.
--
-- @columns phase to share as in op.by_phase
WITH total AS (
    SELECT
        phase,
        name,
        sum(calls)::BIGINT AS calls,
        sum(host_self_ns)::BIGINT AS host_self_ns,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(device_self_ns)::BIGINT AS device_self_ns
    FROM op.by_phase
    GROUP BY phase, name
)
SELECT *, device_self_ns / nullif(sum(device_self_ns) OVER (PARTITION BY phase), 0) AS share
FROM total
ORDER BY sum(device_self_ns) OVER (PARTITION BY phase) DESC, phase, device_self_ns DESC, host_self_ns DESC, name
