-- One row is a module path with all inside it, an op with a kernel type and input shapes, or all kernels together, over all
-- ranks: the model FLOPs utilisation, and how well kernels used the cube cores. The longest of a level come first.
--
-- level              VARCHAR  all, module or op: scope of the row
-- parent_module      VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module; NULL for levels other
--                             than module
-- module             VARCHAR  class name of the module, with [Backward] before it in the backward; NULL for levels other than
--                             module
-- @columns op_name to input_shapes as in mfu.by_level
-- rank_count         BIGINT   ranks that have it
-- mfu                DOUBLE   model FLOPs utilisation of all ranks together: at_peak_ps / elapsed_ns / 1000; NULL without any
-- @columns efficiency to peak_tflops as in mfu.by_level
-- at_peak_ps         BIGINT   time that known_flops would take at the peak, ps; NULL without any
-- elapsed_ns         BIGINT   time of all ranks, also of those that lack it, each from its first kernel to the end of its last
--                             one, ns
-- @columns duration_ns to kernel_count as in mfu.by_level
-- reasons            VARCHAR  those of the ranks in mfu.by_level, joined by '; '; NULL where all kernels have an efficiency
WITH at_level AS (
    SELECT 'all' AS level, NULL AS parent_module, NULL AS module, NULL AS op_name, NULL AS type, NULL AS input_shapes, *
    FROM mfu.rank
    UNION ALL BY NAME
    SELECT 'module' AS level, *
    FROM mfu.module
    UNION ALL BY NAME
    SELECT 'op' AS level, *
    FROM mfu.op
),
time AS (SELECT sum(elapsed_ns)::BIGINT AS elapsed_ns FROM mfu.rank)
SELECT
    level,
    parent_module,
    module,
    op_name,
    type,
    input_shapes,
    count(DISTINCT profile) AS rank_count,
    sum(at_peak_ps) / min(time.elapsed_ns) / 1000 AS mfu,
    sum(known_flops) / nullif(sum(possible_flops), 0) AS efficiency,
    TRY_CAST(sum(known_flops) AS BIGINT) AS known_flops,
    TRY_CAST(sum(possible_flops) AS BIGINT) AS possible_flops,
    TRY_CAST(sum(flops) AS BIGINT) AS flops,
    sum(flops) / nullif(sum(flops_duration_ns), 0) / 1000 AS achieved_tflops,
    sum(possible_flops) / nullif(sum(known_duration_ns), 0) / 1000 AS peak_tflops,
    sum(at_peak_ps)::BIGINT AS at_peak_ps,
    min(time.elapsed_ns) AS elapsed_ns,
    sum(duration_ns)::BIGINT AS duration_ns,
    sum(cube_duration_ns)::BIGINT AS cube_duration_ns,
    sum(flops_duration_ns)::BIGINT AS flops_duration_ns,
    sum(known_duration_ns)::BIGINT AS known_duration_ns,
    sum(known_duration_ns) / nullif(sum(duration_ns), 0) AS known_share,
    sum(known_duration_ns) / nullif(sum(cube_duration_ns), 0) AS cube_known_share,
    sum(mac_duration_ns)::BIGINT AS mac_duration_ns,
    mean_ratio(mac_ratio, mac_duration_ns) AS mac_ratio,
    sum(kernel_count)::BIGINT AS kernel_count,
    string_agg(DISTINCT reasons, '; ' ORDER BY reasons) AS reasons
FROM at_level
CROSS JOIN time
GROUP BY level, parent_module, module, op_name, type, input_shapes
ORDER BY level, duration_ns DESC, parent_module, module, op_name, type, input_shapes
