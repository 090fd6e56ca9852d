-- One row is a phase of passes of a server and a cause of idle time in such passes, or before them, the longest first. The
-- causes in passes of a phase add up to their idle time.
--
-- @guard pass.kernel
--
-- phase       VARCHAR  phase of the passes, as in pass.kernel_phase; no pass for the time behind the last one
-- is_before   BOOLEAN  whether it is about the time before the passes, after those before them
-- cause       VARCHAR  a cause of free.gap_cause
-- pass_count  BIGINT   passes with this cause
-- gap_count   BIGINT   gaps with this cause
-- total_ns    BIGINT   their time, ns
-- share       DOUBLE   part of the idle time in and before passes of this phase
WITH total AS (
    SELECT
        CASE WHEN cause.pass_id IS NULL THEN 'no pass' ELSE coalesce(instance.phase, 'unknown') END AS phase,
        cause.is_before,
        cause.cause,
        count(cause.pass_id) AS pass_count,
        sum(cause.gap_count)::BIGINT AS gap_count,
        sum(cause.total_ns)::BIGINT AS total_ns
    FROM pass.cause
    LEFT JOIN pass.instance USING (pass_id)
    GROUP BY ALL
)
SELECT *, total_ns / nullif(sum(total_ns) OVER (PARTITION BY phase), 0) AS share
FROM total
ORDER BY total_ns DESC, phase, is_before, cause
