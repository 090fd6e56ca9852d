-- One row is a step and what the device did in it, from the kernels, else as the profiler itself worked it out
-- (step_trace_time.csv, analysis.db). Without steps one row is the whole profile.
--
-- step_id       BIGINT   number of the step; NULL for the whole profile
-- computing_ns  BIGINT   time with a compute kernel, ns
-- span_ns       BIGINT   from the first start to the last end, ns; NULL when not known
-- origin        VARCHAR  what tells it: kernels, or profiler
WITH of_kernels AS (
    SELECT step_id, computing_ns, stage_ns + bubble_ns AS span_ns, 'kernels' AS origin
    FROM step.time
    WHERE stage_ns IS NOT NULL
)
FROM of_kernels
UNION ALL
SELECT step_id, computing_ns, stage_ns + bubble_ns AS span_ns, 'profiler' AS origin
FROM trace.recorded_step
WHERE computing_ns IS NOT NULL
  AND NOT EXISTS (FROM of_kernels)
  AND (getvariable('step_id') IS NULL OR step_id = getvariable('step_id'))
