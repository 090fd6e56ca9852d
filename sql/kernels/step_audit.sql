-- One row is a time that the profiler itself reported for its steps (step_trace_time.csv, analysis.db), all steps together,
-- next to the same time from all kernels, whatever step they are in. Without such a file, or without kernels, there are no
-- rows. This table finds missing kernels; step.reported_audit compares the kernels of the steps themselves.
--
-- @guard trace.reported_step
--
-- kind         VARCHAR  the compared time: computing or communication
-- file         VARCHAR  the file that reports the time
-- step_count   BIGINT   steps in it
-- recorded_ns  BIGINT   the time that the file reports for these steps, ns
-- kernels_ns   BIGINT   time in which any such kernel of the profile ran, ns
-- agrees       BOOLEAN  whether no kernels need be missing: the kernels take at least as long, but for rounding; with several
--                       steps at least nine tenths of it, since the profiler counts time that is in two steps twice
--
-- The profiler rounds each kernel to ns; where its times are floats, neighbouring times are a quarter of a us apart.
WITH measured_kernel AS (
    SELECT if(kind = 'compute', 'computing', 'communication') AS kind, start_ns, end_ns
    FROM trace.kernel
    WHERE kind IN ('compute', 'communication')
),
covered AS (
    SELECT kind, count(*) AS kernel_count, sum(added_ns)::BIGINT AS kernels_ns
    FROM added(measured_kernel, kind)
    GROUP BY kind
),
precision AS (
    SELECT count(*) > 0 AS has_kernels, if(bool_and(start_ns % 100 = 0 OR start_ns % 250 = 0), 500, 2) AS rounding_ns
    FROM measured_kernel
)
SELECT
    kind,
    recorded.file,
    recorded.step_count,
    recorded.recorded_ns,
    coalesce(covered.kernels_ns, 0) AS kernels_ns,
    recorded.recorded_ns * if(recorded.step_count > 1, 0.9, 1)
        <= coalesce(covered.kernels_ns, 0) + 1 + coalesce(covered.kernel_count, 0) * precision.rounding_ns AS agrees
FROM step.reported_total AS recorded
LEFT JOIN covered USING (kind)
CROSS JOIN precision
WHERE precision.has_kernels
ORDER BY kind
