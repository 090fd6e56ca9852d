-- One row is a module that runs again inside the backward (activation recomputation), and what that costs, the most time first.
-- Modules inside it are part of its row. Where steps are recorded, kernels outside steps do not count.
--
-- parent_module     VARCHAR  names of the modules around it joined by '/', those of its forward where these are known: what
--                            runs again for an op deep inside the module has this module twice in its path
-- module            VARCHAR  class name of the module
-- call_count        BIGINT   calls that ran again
-- kernel_count      BIGINT   compute kernels that they launched
-- computing_ns      BIGINT   time of these, ns
-- communication_ns  BIGINT   time of the communication operators that they launched, ns
-- idle_ns           BIGINT   idle time of the device right before these kernels and operators, ns
WITH RECURSIVE again AS (
    SELECT call.interval_id, call.interval_id AS root_id
    FROM module.call
    JOIN module.interval USING (interval_id)
    JOIN module.interval_parent USING (interval_id)
    JOIN module.interval AS task ON task.interval_id = interval_parent.parent_id
    WHERE interval.kind = 'module' AND call.is_backward AND NOT interval.begins_backward AND task.kind = 'backward'
    UNION ALL
    SELECT interval.interval_id, again.root_id
    FROM again
    JOIN module.interval_parent ON interval_parent.parent_id = again.interval_id
    JOIN module.interval ON interval.interval_id = interval_parent.interval_id
    WHERE interval.kind = 'module'
),
counted_kernel AS (
    SELECT kernel.kind, kernel.duration_ns, gap.end_ns - gap.start_ns AS idle_ns, again.root_id
    FROM module.kernel
    JOIN again USING (interval_id)
    LEFT JOIN free.gap ON gap.kernel_after_id = kernel.kernel_id
    WHERE kernel.kernel_id IN (SELECT kernel_id FROM kernels.step) OR NOT EXISTS (FROM kernels.step)
),
root AS (
    SELECT
        call.path_key,
        count(DISTINCT counted_kernel.root_id) AS call_count,
        count(*) FILTER (counted_kernel.kind = 'compute') AS kernel_count,
        coalesce(sum(counted_kernel.duration_ns) FILTER (counted_kernel.kind = 'compute'), 0) AS computing_ns,
        coalesce(sum(counted_kernel.duration_ns) FILTER (counted_kernel.kind = 'communication'), 0) AS communication_ns,
        coalesce(sum(counted_kernel.idle_ns), 0) AS idle_ns
    FROM counted_kernel
    JOIN module.call ON call.interval_id = counted_kernel.root_id
    GROUP BY call.path_key
),
-- Of the paths around the op whose backward made it run again, the innermost that ends with the module is that of its forward.
placed_path AS (
    SELECT
        root.* EXCLUDE (path_key),
        path.path[:coalesce(
            list_max(
                list_filter(range(1, len(path.path)), lambda depth: path.path[depth].name_id = path.path[-1].name_id)
            ),
            len(path.path)
        )] AS path
    FROM root
    JOIN module.path ON path.path_key = root.path_key AND path.is_backward
)
SELECT
    path.parent_module,
    regexp_replace(path.module, '^\[Backward\]', '') AS module,
    sum(placed_path.call_count)::BIGINT AS call_count,
    sum(placed_path.kernel_count)::BIGINT AS kernel_count,
    sum(placed_path.computing_ns)::BIGINT AS computing_ns,
    sum(placed_path.communication_ns)::BIGINT AS communication_ns,
    sum(placed_path.idle_ns)::BIGINT AS idle_ns
FROM placed_path
JOIN module.path ON path.path = placed_path.path AND path.is_backward
GROUP BY path.path_id, path.parent_module, path.module
ORDER BY computing_ns DESC, path.path_id
