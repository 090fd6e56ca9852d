-- One row is a moment at which a compute kernel of a step starts, and how long the compute kernels of the step that have
-- started cover.
--
-- step_key    BIGINT  a step of trace.step; -9223372036854775808 for kernels of no step and without steps, since an ASOF join
--                     compares no NULL
-- start_ns    BIGINT  the moment, Unix ns
-- covered_ns  BIGINT  time up to reached_ns in which one of them runs, ns
-- reached_ns  BIGINT  the last of their ends, Unix ns
WITH computing AS (
    SELECT
        coalesce(step_id, -9223372036854775808) AS step_key,
        start_ns,
        greatest(0, end_ns - greatest(start_ns, coalesce(max(end_ns) OVER before, start_ns))) AS added_ns,
        greatest(end_ns, coalesce(max(end_ns) OVER before, end_ns)) AS reached_ns
    FROM step.kernel_step
    WHERE kind = 'compute'
    WINDOW before AS (
        PARTITION BY step_id
        ORDER BY start_ns, end_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
SELECT
    step_key,
    start_ns,
    sum(sum(added_ns)) OVER (PARTITION BY step_key ORDER BY start_ns)::BIGINT AS covered_ns,
    max(reached_ns) AS reached_ns
FROM computing
GROUP BY step_key, start_ns
