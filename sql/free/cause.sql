-- One row is a step and a cause of its free time, the longest first: what the host did while the device idled. The causes of a
-- step add up to its free time.
--
-- step_id    BIGINT   number of the step; NULL for the whole profile
-- cause      VARCHAR  a cause of free.gap_cause; or kernels of another step, which ran in between
-- gap_count  BIGINT   gaps of which it is a cause; NULL for kernels of another step
-- total_ns   BIGINT   their time, ns
-- share      DOUBLE   part of the free time of the step
WITH host AS (
    SELECT
        step_gap.step_id,
        gap_cause.cause,
        min(gap_cause.precedence) AS precedence,
        count(*) AS gap_count,
        sum(gap_cause.duration_ns)::BIGINT AS total_ns
    FROM free.step_gap
    JOIN free.gap_cause USING (gap_id)
    GROUP BY step_gap.step_id, gap_cause.cause
),
told AS (
    SELECT step_id, sum(total_ns)::BIGINT AS total_ns
    FROM host
    GROUP BY step_id
),
cause AS (
    FROM host
    UNION ALL BY NAME
    SELECT
        time.step_id,
        'kernels of another step' AS cause,
        8 AS precedence,
        time.free_ns - coalesce(told.total_ns, 0) AS total_ns
    FROM step.time
    LEFT JOIN told ON told.step_id IS NOT DISTINCT FROM time.step_id
    WHERE time.free_ns > coalesce(told.total_ns, 0)
)
SELECT cause.step_id, cause.cause, cause.gap_count, cause.total_ns, cause.total_ns / time.free_ns AS share
FROM cause
JOIN step.time ON time.step_id IS NOT DISTINCT FROM cause.step_id
ORDER BY cause.step_id NULLS LAST, cause.total_ns DESC, cause.precedence
