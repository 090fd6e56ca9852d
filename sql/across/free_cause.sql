-- One row is a cause of the idle time of all steps over all ranks, the longest first: the activity of the host while the device
-- was idle.
--
-- cause      VARCHAR  a cause of free.cause
-- gap_count  BIGINT   gaps with this cause; NULL for kernels of no step
-- total_ns   BIGINT   their time, ns
-- share      DOUBLE   part of the idle time of all steps; NULL when that is 0
SELECT
    cause,
    sum(gap_count)::BIGINT AS gap_count,
    sum(total_ns)::BIGINT AS total_ns,
    sum(total_ns) / nullif(sum(sum(total_ns)) OVER (), 0) AS share
FROM free.cause
GROUP BY cause
ORDER BY total_ns DESC, cause
