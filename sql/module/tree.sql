-- One row is a module path with its cost. The backward of a path is a row of its own, [Backward] before the name. The times of
-- own kernels add up to the kernel time inside modules, and so do the times of the outermost modules with all modules inside
-- them.
--
-- @sum own_kernel_duration_ns
--
-- parent_module              VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                     VARCHAR  class name of the module, with [Backward] before it in the backward
-- depth                      BIGINT   1 for an outermost module
-- calls                      BIGINT   calls; for a backward, the forward calls whose backward ran
-- own_kernel_duration_ns     BIGINT   time of the kernels that ops directly in the module launched, ns
-- kernel_duration_ns         BIGINT   own kernel time and that of all modules inside it, ns
-- kernel_duration_share      DOUBLE   kernel_duration_ns / all kernel time of the rank; NULL when that is 0
-- avg_kernel_duration_ns     DOUBLE   kernel_duration_ns / calls, ns; NULL when no call started in the chosen step
WITH RECURSIVE chosen_call AS (
    SELECT call.*
    FROM module.call
    JOIN module.interval USING (interval_id)
    -- All pairs: periods of the chosen step are few.
    LEFT JOIN step.selected ON interval.start_ns >= selected.start_ns AND interval.start_ns < selected.end_ns
    WHERE getvariable('step_id') IS NULL OR selected.start_ns IS NOT NULL
),
forward_call AS (
    SELECT range_id, parent_range_id, path_key
    FROM module.call
    WHERE interval_id = range_id
),
-- The calls whose backward ran, and the calls around them; calls that ran again inside a backward are among these.
with_backward AS (
    SELECT range_id
    FROM chosen_call
    WHERE is_backward
    UNION
    SELECT forward_call.parent_range_id
    FROM with_backward
    JOIN forward_call USING (range_id)
    WHERE forward_call.parent_range_id IS NOT NULL
),
counted_call AS (
    SELECT path_key, false AS is_backward
    FROM chosen_call
    WHERE NOT is_backward AND interval_id = range_id
    UNION ALL
    SELECT forward_call.path_key, true
    FROM with_backward
    JOIN forward_call USING (range_id)
),
call_count AS (
    SELECT path_key, is_backward, count(*) AS calls
    FROM counted_call
    GROUP BY path_key, is_backward
),
own AS (
    SELECT path.path, path.is_backward, sum(duration_ns)::BIGINT AS duration_ns
    FROM module.kernel
    JOIN module.path USING (path_id)
    GROUP BY path.path, path.is_backward
),
inclusive AS (
    SELECT path[:depth] AS path, is_backward, sum(duration_ns)::BIGINT AS duration_ns
    FROM own
    CROSS JOIN unnest(range(1, len(path) + 1)) AS prefix (depth)
    GROUP BY ALL
),
all_kernels AS (
    SELECT sum(duration_ns)::BIGINT AS duration_ns
    FROM module.kernel
)
SELECT
    path.parent_module,
    path.module,
    path.depth,
    coalesce(call_count.calls, 0) AS calls,
    coalesce(own.duration_ns, 0) AS own_kernel_duration_ns,
    coalesce(inclusive.duration_ns, 0) AS kernel_duration_ns,
    coalesce(inclusive.duration_ns, 0) / nullif(all_kernels.duration_ns, 0) AS kernel_duration_share,
    coalesce(inclusive.duration_ns, 0) / call_count.calls AS avg_kernel_duration_ns
FROM module.path
LEFT JOIN call_count USING (path_key, is_backward)
LEFT JOIN own USING (path, is_backward)
LEFT JOIN inclusive USING (path, is_backward)
CROSS JOIN all_kernels
WHERE call_count.calls IS NOT NULL OR inclusive.duration_ns IS NOT NULL
ORDER BY path.path_id
