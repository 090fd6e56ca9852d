-- One row is a time that the profiler itself reported for its steps (step_trace_time.csv, analysis.db), all steps together,
-- next to the same time from the kernels. Without such a file, or without kernels, there are no rows.
--
-- @guard trace.reported_step
--
-- kind            VARCHAR  the compared time: computing or communication
-- file            VARCHAR  the file that reports the time
-- step_count      BIGINT   steps in it
-- recorded_ns     BIGINT   the time that the file reports for these steps, ns
-- kernels_ns      BIGINT   the same time from the kernels of steps, ns; where no kernel has a known step, from all kernels
-- all_kernels_ns  BIGINT   the same time from all kernels, ns
-- between_ns      BIGINT   most that the profiler can add to the time of all kernels, since it counts for two steps what is
--                          in both, ns
-- rounding_ns     BIGINT   most by which the profiler's rounding of a stretch of kernels can change its time, ns
-- is_equal        BOOLEAN  whether the difference can come from rounding, or from the way in which the profiler counts kernels
--                          between steps
--
-- The profiler counts for a step what ran between the first and the last of its kernels, and counts a stretch of kernels
-- without gaps for the step in which it began. So its time is at least that of the kernels of steps, or of the stretches that
-- begin in steps, and at most that of all kernels, with time that is in two steps counted twice. It rounds each stretch to ns;
-- where its times are floats, neighbouring times are a quarter of a us apart.
WITH step_span AS (
    SELECT step_id, min(start_ns) AS first_ns, max(end_ns) AS last_ns
    FROM step.kernel_step
    WHERE step_id IS NOT NULL
    GROUP BY step_id
),
span AS (
    SELECT
        first_ns,
        last_ns AS own_last_ns,
        max(last_ns) OVER (ORDER BY first_ns ROWS UNBOUNDED PRECEDING) AS last_ns,
        max(last_ns) OVER (ORDER BY first_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM (SELECT first_ns, max(last_ns) AS last_ns FROM step_span GROUP BY first_ns)
),
shared_time AS (
    SELECT coalesce(sum(greatest(0, least(before_ns, own_last_ns) - first_ns)), 0)::BIGINT AS shared_ns
    FROM span
    WHERE before_ns IS NOT NULL
),
stretch AS (
    SELECT
        stretch.kind::VARCHAR AS kind,
        count(*) AS stretch_count,
        sum(stretch.end_ns - stretch.start_ns) AS all_ns,
        sum(stretch.end_ns - stretch.start_ns) FILTER (stretch.start_ns <= span.last_ns) AS begun_in_steps_ns,
        sum(stretch.end_ns - stretch.start_ns) FILTER (stretch.start_ns <= span.before_ns) AS begun_in_two_ns
    FROM step.stretch
    ASOF LEFT JOIN span ON span.first_ns <= stretch.start_ns
    WHERE stretch.kind <> 'busy'
    GROUP BY stretch.kind
),
kernel_of_step AS (
    SELECT if(kind = 'compute', 'computing', 'communication') AS kind, start_ns, end_ns
    FROM step.kernel_step
    WHERE step_id IS NOT NULL
),
of_steps AS (
    SELECT kind, sum(added_ns) AS kernels_ns
    FROM added(kernel_of_step, kind)
    GROUP BY kind
),
precision AS (
    SELECT
        count(*) > 0 AS has_kernels,
        count(step_id) > 0 AS has_steps,
        if(bool_and(start_ns % 100 = 0 OR start_ns % 250 = 0), 500, 2) AS rounding_ns
    FROM step.kernel_step
),
compared_kind AS (
    SELECT
        recorded.*,
        if(precision.has_steps, coalesce(of_steps.kernels_ns, 0), coalesce(stretch.all_ns, 0))::BIGINT AS kernels_ns,
        coalesce(stretch.all_ns, 0)::BIGINT AS all_kernels_ns,
        least(coalesce(of_steps.kernels_ns, 0), coalesce(stretch.begun_in_steps_ns, 0)) AS least_ns,
        coalesce(stretch.begun_in_two_ns, 0) + shared_time.shared_ns AS between_ns,
        1 + coalesce(stretch.stretch_count, 0) * precision.rounding_ns AS tolerance_ns,
        precision.rounding_ns::BIGINT AS rounding_ns
    FROM step.reported_total AS recorded
    LEFT JOIN stretch USING (kind)
    LEFT JOIN of_steps USING (kind)
    CROSS JOIN shared_time
    CROSS JOIN precision
    WHERE precision.has_kernels
)
SELECT
    kind,
    file,
    step_count,
    recorded_ns,
    kernels_ns,
    all_kernels_ns,
    between_ns::BIGINT AS between_ns,
    rounding_ns,
    recorded_ns BETWEEN least_ns - tolerance_ns AND all_kernels_ns + between_ns + tolerance_ns AS is_equal
FROM compared_kind
