-- One row is a step of step.time; kernels of no step are left out. Without steps, one row is the whole profile.
--
-- step_id       BIGINT   number of the step; NULL for the whole profile
-- computing_ns  BIGINT   time in which a compute kernel ran, ns
-- span_ns       BIGINT   from the first start to the last end, ns; NULL when not known
-- origin        VARCHAR  where the times come from: kernels, or profiler
SELECT step_id, computing_ns, stage_ns + bubble_ns AS span_ns, origin
FROM step.time
WHERE computing_ns IS NOT NULL AND (stage_ns IS NOT NULL OR origin = 'profiler')
