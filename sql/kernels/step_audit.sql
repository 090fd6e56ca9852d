-- One row is a figure that the profiler itself worked out of its steps (step_trace_time.csv, analysis.db), all steps together,
-- beside the same out of all kernels, whatever step they are of. Without such a file, or without kernels, there is none. It
-- finds kernels that are missing; step.reported_audit compares the kernels of the steps themselves.
--
-- kind         VARCHAR  what is compared: computing or communication
-- file         VARCHAR  the file that says so
-- step_count   BIGINT   steps in it
-- recorded_ns  BIGINT   what it says of them, ns
-- kernels_ns   BIGINT   time in which any such kernel of the profile ran, ns
-- agrees       BOOLEAN  whether the kernels can be all: they take as long, but for rounding; or a tenth less where there are
--                       several steps, since what runs in two of them counts in both
--
-- The profiler rounds each kernel to ns; where its times are floats, they are a quarter of a us apart.
--
-- Only when trace.reported_step has rows.
WITH counted AS (
    SELECT if(kind = 'compute', 'computing', 'communication') AS kind, start_ns, end_ns
    FROM trace.kernel
    WHERE kind <> 'schedule'
),
-- What each adds to the time that those before it cover.
added AS (
    SELECT
        kind,
        greatest(0, end_ns - greatest(start_ns, coalesce(max(end_ns) OVER before, start_ns))) AS added_ns
    FROM counted
    WINDOW before AS (PARTITION BY kind ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
covered AS (
    SELECT kind, count(*) AS kernel_count, sum(added_ns)::BIGINT AS kernels_ns
    FROM added
    GROUP BY kind
),
precision AS (
    SELECT count(*) > 0 AS has_kernels, if(bool_and(start_ns % 100 = 0 OR start_ns % 250 = 0), 500, 2) AS rounding_ns
    FROM counted
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
