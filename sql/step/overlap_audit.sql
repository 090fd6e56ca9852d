-- One row is a time from the profiler's own Overlap Analysis next to the same time from the kernels, over the whole profile.
-- Without such an analysis there are no rows.
--
-- @guard trace.overlap
--
-- kind            ENUM('computing', 'communication', 'communication_not_overlapped', 'free')  what is compared
-- interval_count  BIGINT   intervals of the analysis
-- recorded_ns     BIGINT   their time, ns; of free only what lies between the first and the last kernel, since tasks of the
--                          profiler itself, which are no kernels, begin or end what the profiler counts as free outside
-- kernels_ns      BIGINT   the same time from the kernels, ns
-- difference_ns   BIGINT   recorded - kernels; the profiler rounds each interval to ns
-- agrees          BOOLEAN  whether the difference is no more than the rounding of each interval at both ends
WITH measured_kernel AS (
    SELECT 'busy' AS what, start_ns, end_ns
    FROM trace.kernel
    WHERE kind <> 'schedule'
    UNION ALL
    SELECT kind::VARCHAR, start_ns, end_ns
    FROM trace.kernel
    WHERE kind <> 'schedule'
),
added_time AS (
    SELECT what, start_ns, end_ns, added_ns
    FROM added(measured_kernel, what)
),
covered AS (
    SELECT
        coalesce(sum(added_ns) FILTER (what = 'compute'), 0)::BIGINT AS computing_ns,
        coalesce(sum(added_ns) FILTER (what = 'communication'), 0)::BIGINT AS communication_ns,
        coalesce(sum(added_ns) FILTER (what = 'busy'), 0)::BIGINT AS busy_ns,
        coalesce(max(end_ns) - min(start_ns), 0) AS span_ns
    FROM added_time
),
span AS (
    SELECT min(start_ns) AS first_ns, max(end_ns) AS last_ns
    FROM added_time
),
recorded_kind AS (
    SELECT
        overlap.kind,
        count(*) AS interval_count,
        sum(
            if(
                overlap.kind = 'free',
                greatest(0, least(overlap.end_ns, coalesce(last_ns, overlap.start_ns)) - greatest(overlap.start_ns, first_ns)),
                overlap.duration_ns
            )
        )::BIGINT AS recorded_ns
    FROM trace.overlap
    CROSS JOIN span
    GROUP BY overlap.kind
),
compared_kind AS (
    SELECT
        recorded_kind.*,
        CASE kind
            WHEN 'computing' THEN computing_ns
            WHEN 'communication' THEN communication_ns
            WHEN 'communication_not_overlapped' THEN busy_ns - computing_ns
            WHEN 'free' THEN span_ns - busy_ns
        END AS kernels_ns
    FROM recorded_kind
    CROSS JOIN covered
)
SELECT
    kind,
    interval_count,
    recorded_ns,
    kernels_ns,
    recorded_ns - kernels_ns AS difference_ns,
    abs(recorded_ns - kernels_ns) <= 2 * interval_count AS agrees
FROM compared_kind
ORDER BY kind
