-- One row is a phase of passes of a server and a module path, with the time of its kernels, the largest time of each phase
-- first. Kernels outside modules have a row of their own.
--
-- @guard pass.kernel
--
-- phase                   VARCHAR  as in pass.kernel_phase
-- parent_module           VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module; NULL outside
--                                  modules
-- module                  VARCHAR  class name of the module; NULL outside modules
-- computing_ns            BIGINT   time of compute kernels in the module and the modules inside it, ns
-- share                   DOUBLE   part of the time of all compute kernels of the phase; NULL when that is 0
-- own_computing_ns        BIGINT   part of computing_ns that no module inside it has, ns
-- own_kernel_duration_ns  BIGINT   time of all kernels of its own, communication included, ns
-- own_kernel_count        BIGINT   these kernels
WITH of_path AS (
    SELECT
        kernel_phase.phase,
        kernel.path_id,
        coalesce(sum(kernel.duration_ns) FILTER (kernel.kind = 'compute'), 0)::BIGINT AS computing_ns,
        sum(kernel.duration_ns)::BIGINT AS kernel_duration_ns,
        count(*) AS kernel_count
    FROM module.kernel
    JOIN pass.kernel_phase USING (kernel_id)
    GROUP BY kernel_phase.phase, kernel.path_id
),
with_inside AS (
    SELECT of_path.phase, enclosing_path.enclosing_id AS path_id, sum(of_path.computing_ns)::BIGINT AS computing_ns
    FROM of_path
    JOIN module.enclosing_path USING (path_id)
    GROUP BY of_path.phase, enclosing_path.enclosing_id
    UNION ALL
    SELECT phase, NULL, computing_ns
    FROM of_path
    WHERE path_id IS NULL
),
whole AS (
    SELECT phase, sum(computing_ns) AS computing_ns
    FROM of_path
    GROUP BY phase
)
SELECT
    with_inside.phase,
    path.parent_module,
    path.module,
    with_inside.computing_ns,
    with_inside.computing_ns / nullif(whole.computing_ns, 0) AS share,
    coalesce(of_path.computing_ns, 0) AS own_computing_ns,
    coalesce(of_path.kernel_duration_ns, 0) AS own_kernel_duration_ns,
    coalesce(of_path.kernel_count, 0) AS own_kernel_count
FROM with_inside
JOIN whole ON whole.phase = with_inside.phase
LEFT JOIN of_path ON of_path.phase = with_inside.phase AND of_path.path_id IS NOT DISTINCT FROM with_inside.path_id
LEFT JOIN module.path ON path.path_id = with_inside.path_id
ORDER BY whole.computing_ns DESC, with_inside.phase, with_inside.computing_ns DESC, path.parent_module, path.module
