-- One row is a kernel type, an op, a module path with all inside it, or all kernels together, over all ranks, with the hardware
-- counters of its kernels. The longest of a level come first. The rows cover compute kernels, and other kernels that have
-- counters. A ratio is the mean over the ranks, weighted by the time of the kernels on these cores.
--
-- level              VARCHAR  all, kernel_type, op or module: scope of the row
-- kind               VARCHAR  kind of the kernels: compute, communication, copy or schedule; NULL for a module, and for all
-- type               VARCHAR  operator type; NULL when it is not known, for a module, and for all
-- core               VARCHAR  cores they ran on; NULL when not recorded, for a module, and for all
-- op_name            VARCHAR  the op that launched them; NULL where linked to no op, and for levels other than op
-- parent_module      VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module; NULL for levels other
--                             than module
-- module             VARCHAR  class name of the module, with [Backward] before it in the backward; NULL for levels other than
--                             module
-- rank_count         BIGINT   ranks that have it
-- @columns kernel_count to known_share as in pmu.by_level
-- bound              VARCHAR  what bounds most of the time: compute, memory, on chip, scalar or wait, as in pmu.bound; NULL
--                             when not known
-- @columns compute_ns to aic_time_share as in pmu.by_level
-- aic_mac_ratio      DOUBLE   part of the time of these cores in which the matrix unit worked; NULL when not recorded
-- @columns aic_scalar_ratio to cube_utilization as in pmu.by_level
-- @columns aiv_duration_ns to aiv_mte3_ratio as in pmu.by_level
-- @columns occupancy to shared_memory_bytes as in pmu.by_level
WITH at_level AS (
    SELECT 'all' AS level, * EXCLUDE (kind, type, core)
    FROM pmu.kernel_type
    UNION ALL BY NAME
    SELECT 'kernel_type' AS level, *
    FROM pmu.kernel_type
    UNION ALL BY NAME
    SELECT 'op' AS level, *
    FROM pmu.op
    UNION ALL BY NAME
    SELECT 'module' AS level, *
    FROM pmu.module
),
group_of_level AS (
    SELECT
        level,
        kind,
        type,
        core,
        op_name,
        parent_module,
        module,
        count(DISTINCT profile) AS rank_count,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(known_duration_ns)::BIGINT AS known_duration_ns,
        sum(compute_ns)::BIGINT AS compute_ns,
        sum(memory_ns)::BIGINT AS memory_ns,
        sum(on_chip_ns)::BIGINT AS on_chip_ns,
        sum(scalar_ns)::BIGINT AS scalar_ns,
        sum(wait_ns)::BIGINT AS wait_ns,
        sum(unbound_ns)::BIGINT AS unbound_ns,
        sum(aic_duration_ns)::BIGINT AS aic_duration_ns,
        sum(aic_kernel_count)::BIGINT AS aic_kernel_count,
        sum(aic_uncounted_count)::BIGINT AS aic_uncounted_count,
        sum(aic_uncounted_ns)::BIGINT AS aic_uncounted_ns,
        mean_ratio(aic_time_share, aic_duration_ns) AS aic_time_share,
        mean_ratio(aic_mac_ratio, aic_duration_ns) AS aic_mac_ratio,
        mean_ratio(aic_scalar_ratio, aic_duration_ns) AS aic_scalar_ratio,
        mean_ratio(aic_mte1_ratio, aic_duration_ns) AS aic_mte1_ratio,
        mean_ratio(aic_mte2_ratio, aic_duration_ns) AS aic_mte2_ratio,
        mean_ratio(aic_fixpipe_ratio, aic_duration_ns) AS aic_fixpipe_ratio,
        mean_ratio(cube_utilization, aic_duration_ns) AS cube_utilization,
        sum(aiv_duration_ns)::BIGINT AS aiv_duration_ns,
        sum(aiv_kernel_count)::BIGINT AS aiv_kernel_count,
        sum(aiv_uncounted_count)::BIGINT AS aiv_uncounted_count,
        sum(aiv_uncounted_ns)::BIGINT AS aiv_uncounted_ns,
        mean_ratio(aiv_time_share, aiv_duration_ns) AS aiv_time_share,
        mean_ratio(aiv_vec_ratio, aiv_duration_ns) AS aiv_vec_ratio,
        mean_ratio(aiv_scalar_ratio, aiv_duration_ns) AS aiv_scalar_ratio,
        mean_ratio(aiv_mte2_ratio, aiv_duration_ns) AS aiv_mte2_ratio,
        mean_ratio(aiv_mte3_ratio, aiv_duration_ns) AS aiv_mte3_ratio,
        mean_ratio(occupancy, occupancy_duration_ns) AS occupancy,
        sum(occupancy_duration_ns)::BIGINT AS occupancy_duration_ns,
        sum(few_blocks_ns)::BIGINT AS few_blocks_ns,
        mean_value(blocks_per_sm, known_duration_ns) AS blocks_per_sm,
        mean_value(warps_per_sm, known_duration_ns) AS warps_per_sm,
        mean_value(registers_per_thread, known_duration_ns) AS registers_per_thread,
        mean_value(shared_memory_bytes, known_duration_ns) AS shared_memory_bytes
    FROM at_level
    GROUP BY level, kind, type, core, op_name, parent_module, module
)
SELECT
    level,
    kind,
    type,
    core,
    op_name,
    parent_module,
    module,
    rank_count,
    kernel_count,
    duration_ns,
    known_duration_ns,
    known_duration_ns / nullif(duration_ns, 0) AS known_share,
    if(
        unbound_ns > compute_ns + memory_ns + on_chip_ns + scalar_ns + wait_ns,
        NULL,
        longest_bound(compute_ns, memory_ns, on_chip_ns, scalar_ns, wait_ns)
    ) AS bound,
    compute_ns,
    memory_ns,
    on_chip_ns,
    scalar_ns,
    wait_ns,
    unbound_ns,
    aic_duration_ns,
    aic_kernel_count,
    aic_uncounted_count,
    aic_uncounted_ns,
    aic_time_share,
    aic_mac_ratio,
    aic_scalar_ratio,
    aic_mte1_ratio,
    aic_mte2_ratio,
    aic_fixpipe_ratio,
    cube_utilization,
    aiv_duration_ns,
    aiv_kernel_count,
    aiv_uncounted_count,
    aiv_uncounted_ns,
    aiv_time_share,
    aiv_vec_ratio,
    aiv_scalar_ratio,
    aiv_mte2_ratio,
    aiv_mte3_ratio,
    occupancy,
    occupancy_duration_ns,
    few_blocks_ns,
    blocks_per_sm,
    warps_per_sm,
    registers_per_thread,
    shared_memory_bytes
FROM group_of_level
ORDER BY level, duration_ns DESC, kind, type, core, op_name, parent_module, module
