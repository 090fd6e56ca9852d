-- One row is a moment at which a compute kernel of a step starts, and how long the compute kernels of the step that have
-- started cover.
--
-- step_key    BIGINT  a step of trace.step; -9223372036854775808 for kernels of no step and without steps, since an ASOF join
--                     compares no NULL
-- start_ns    BIGINT  the moment, Unix ns
-- covered_ns  BIGINT  time up to reached_ns in which one of them runs, ns
-- reached_ns  BIGINT  the last of their ends, Unix ns
WITH computing AS (
    SELECT coalesce(step_id, -9223372036854775808) AS step_key, start_ns, max(end_ns) AS end_ns
    FROM step.kernel_time
    WHERE kind = 'compute'
    GROUP BY ALL
),
added_time AS (
    SELECT step_key, start_ns, added_ns, reached_ns
    FROM added(computing, step_key)
)
SELECT
    step_key,
    start_ns,
    sum(added_ns) OVER (PARTITION BY step_key ORDER BY start_ns ROWS UNBOUNDED PRECEDING)::BIGINT AS covered_ns,
    reached_ns
FROM added_time
