-- One row is a kernel type, an op, or a module path with all inside it, with the hardware counters of its kernels. The rows
-- cover compute kernels, and other kernels that have counters.
--
-- level                   VARCHAR  kernel_type, op or module: scope of the row
-- kind                    ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels; NULL for a module
-- type_id                 TEXT_ID  operator type; NULL when it is not known, and for a module
-- core_id                 TEXT_ID  cores they ran on; NULL when not recorded, and for a module
-- op_name_id              TEXT_ID  the op that launched them; NULL where linked to no op, and for levels other than op
-- path_id                 BIGINT   the path of module.path; NULL for levels other than module
-- kernel_count            BIGINT   kernels
-- duration_ns             BIGINT   their time, ns; overlapping kernels count fully
-- known_duration_ns       BIGINT   part of duration_ns in kernels with counters; the columns below cover only these
-- known_share             DOUBLE   known_duration_ns / duration_ns; NULL when that is 0
-- bound                   VARCHAR  what bounds most of the time: compute, memory, on chip, scalar or wait, as in pmu.bound;
--                                  NULL with a reason, also where it is not known for most of the time
-- compute_ns              BIGINT   time of kernels that compute bounds, ns
-- memory_ns               BIGINT   time of kernels that memory bounds, ns
-- on_chip_ns              BIGINT   time of kernels that moving data on the chip bounds, ns
-- scalar_ns               BIGINT   time of kernels that the scalar unit bounds, ns
-- wait_ns                 BIGINT   time of kernels that wait, ns
-- unbound_ns              BIGINT   time of kernels with counters of only one of the kinds of cores that they run on, whose
--                                  counters do not show the bound, ns
-- aic_duration_ns         BIGINT   time of kernels that ran on cube cores, ns; a kernel on both kinds of cores counts for both
-- aic_kernel_count        BIGINT   these kernels
-- aic_uncounted_count     BIGINT   further kernels that run on cube cores, for which only 0 was recorded: not counted
-- aic_uncounted_ns        BIGINT   their time, ns; where it is more than aic_duration_ns, the ratios of these cores are NULL
-- aic_time_share          DOUBLE   part of aic_duration_ns in which these cores ran; NULL when not recorded
-- aic_mac_ratio           DOUBLE   part of the time of these cores in which the matrix unit worked: the mean over kernels,
--                                  weighted by time; NULL when not recorded
-- aic_scalar_ratio        DOUBLE   the same for the scalar unit
-- aic_mte1_ratio          DOUBLE   the same for moving L1 to L0
-- aic_mte2_ratio          DOUBLE   the same for moving memory to the core
-- aic_fixpipe_ratio       DOUBLE   the same for moving results out of the core
-- cube_utilization        DOUBLE   part of the cycles of all cube cores of the device that were used, in aic_duration_ns; NULL
--                                  when not known
-- aic_l2_read_hit_rate    DOUBLE   part of reads of cube cores that hit the L2 cache; NULL when not recorded
-- aic_l2_write_hit_rate   DOUBLE   the same for writes
-- aiv_duration_ns         BIGINT   time of kernels that ran on vector cores, ns
-- aiv_kernel_count        BIGINT   these kernels
-- aiv_uncounted_count     BIGINT   as aic_uncounted_count
-- aiv_uncounted_ns        BIGINT   as aic_uncounted_ns
-- aiv_time_share          DOUBLE   as aic_time_share
-- aiv_vec_ratio           DOUBLE   as aic_mac_ratio, for the vector unit
-- aiv_scalar_ratio        DOUBLE   as aic_scalar_ratio
-- aiv_mte2_ratio          DOUBLE   as aic_mte2_ratio
-- aiv_mte3_ratio          DOUBLE   the same for moving results out of the core
-- aiv_l2_read_hit_rate    DOUBLE   as aic_l2_read_hit_rate
-- aiv_l2_write_hit_rate   DOUBLE   as aic_l2_write_hit_rate
-- occupancy               DOUBLE   part of the warps that a streaming multiprocessor (SM) can hold which the kernels keep
--                                  there: the mean over kernels, weighted by time; NULL when not known
-- occupancy_duration_ns   BIGINT   time of the kernels whose occupancy is known, ns
-- few_blocks_ns           BIGINT   time of kernels with fewer blocks than the device has SMs, so that some SMs have no work, ns
-- blocks_per_sm           DOUBLE   blocks of a launch / SMs: the mean over kernels, weighted by time; NULL when not recorded
-- warps_per_sm            DOUBLE   the same for warps
-- registers_per_thread    DOUBLE   the same for registers of a thread
-- shared_memory_bytes     DOUBLE   the same for shared memory of a block, bytes
-- reason                  VARCHAR  why bound is NULL
WITH of_kernel AS (
    SELECT
        of_module.kind,
        of_module.type_id,
        of_module.core_id,
        of_module.op_name_id,
        of_module.path_id,
        of_module.duration_ns AS kernel_ns,
        counters.*,
        bound.bound
    FROM module.kernel AS of_module
    LEFT JOIN pmu.kernel_counters AS counters USING (kernel_id)
    LEFT JOIN pmu.bound USING (kernel_id)
    WHERE of_module.kind = 'compute' OR counters.kernel_id IS NOT NULL
),
-- Levels are sums of these few rows: to sum all kernels for each level takes six times as long.
work AS (
    SELECT
        kind,
        type_id,
        core_id,
        op_name_id,
        path_id,
        count(*) AS kernel_count,
        sum(kernel_ns) AS duration_ns,
        sum(duration_ns) AS known_duration_ns,
        count(kernel_id) AS known_count,
        count(bound) AS bound_count,
        sum(duration_ns) FILTER (bound = 'compute') AS compute_ns,
        sum(duration_ns) FILTER (bound = 'memory') AS memory_ns,
        sum(duration_ns) FILTER (bound = 'on chip') AS on_chip_ns,
        sum(duration_ns) FILTER (bound = 'scalar') AS scalar_ns,
        sum(duration_ns) FILTER (bound = 'wait') AS wait_ns,
        sum(duration_ns) FILTER (bound IS NULL AND (aic_is_uncounted OR aiv_is_uncounted)) AS unbound_ns,
        sum(duration_ns) FILTER (aic_runs) AS aic_duration_ns,
        sum(duration_ns) FILTER (aiv_runs) AS aiv_duration_ns,
        count(*) FILTER (aic_runs) AS aic_kernel_count,
        count(*) FILTER (aiv_runs) AS aiv_kernel_count,
        count(*) FILTER (aic_is_uncounted) AS aic_uncounted_count,
        count(*) FILTER (aiv_is_uncounted) AS aiv_uncounted_count,
        sum(duration_ns) FILTER (aic_is_uncounted) AS aic_uncounted_ns,
        sum(duration_ns) FILTER (aiv_is_uncounted) AS aiv_uncounted_ns,
        ratio_sums(aic_time_ns / duration_ns, duration_ns) AS aic_time_share,
        ratio_sums(aic_mac_ratio, duration_ns) AS aic_mac_ratio,
        ratio_sums(aic_scalar_ratio, duration_ns) AS aic_scalar_ratio,
        ratio_sums(aic_mte1_ratio, duration_ns) AS aic_mte1_ratio,
        ratio_sums(aic_mte2_ratio, duration_ns) AS aic_mte2_ratio,
        ratio_sums(aic_fixpipe_ratio, duration_ns) AS aic_fixpipe_ratio,
        ratio_sums(cube_utilization, duration_ns) AS cube_utilization,
        ratio_sums(aiv_time_ns / duration_ns, duration_ns) AS aiv_time_share,
        ratio_sums(aiv_vec_ratio, duration_ns) AS aiv_vec_ratio,
        ratio_sums(aiv_scalar_ratio, duration_ns) AS aiv_scalar_ratio,
        ratio_sums(aiv_mte2_ratio, duration_ns) AS aiv_mte2_ratio,
        ratio_sums(aiv_mte3_ratio, duration_ns) AS aiv_mte3_ratio,
        sum(aic_l2_read_hits) AS aic_l2_read_hits,
        sum(aic_l2_reads) AS aic_l2_reads,
        sum(aic_l2_write_hits) AS aic_l2_write_hits,
        sum(aic_l2_writes) AS aic_l2_writes,
        sum(aiv_l2_read_hits) AS aiv_l2_read_hits,
        sum(aiv_l2_reads) AS aiv_l2_reads,
        sum(aiv_l2_write_hits) AS aiv_l2_write_hits,
        sum(aiv_l2_writes) AS aiv_l2_writes,
        ratio_sums(occupancy, duration_ns) AS occupancy,
        sum(duration_ns) FILTER (occupancy IS NOT NULL) AS occupancy_duration_ns,
        sum(duration_ns) FILTER (blocks_per_sm < 1) AS few_blocks_ns,
        value_sums(blocks_per_sm, duration_ns) AS blocks_per_sm,
        value_sums(warps_per_sm, duration_ns) AS warps_per_sm,
        value_sums(registers_per_thread, duration_ns) AS registers_per_thread,
        value_sums(shared_memory_bytes, duration_ns) AS shared_memory_bytes
    FROM of_kernel
    GROUP BY ALL
),
at_level AS (
    SELECT 'kernel_type' AS level, * REPLACE (NULL AS op_name_id, NULL AS path_id)
    FROM work
    UNION ALL
    SELECT 'op', * REPLACE (NULL AS path_id)
    FROM work
    UNION ALL
    SELECT
        'module',
        work.* REPLACE (
            NULL AS kind, NULL AS type_id, NULL AS core_id, NULL AS op_name_id, enclosing_id AS path_id
        )
    FROM work
    JOIN module.enclosing_path USING (path_id)
),
figure AS (
    SELECT
        level,
        kind,
        type_id,
        core_id,
        op_name_id,
        path_id,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        coalesce(sum(known_duration_ns), 0)::BIGINT AS known_duration_ns,
        sum(known_count) AS known_count,
        sum(bound_count) AS bound_count,
        coalesce(sum(compute_ns), 0)::BIGINT AS compute_ns,
        coalesce(sum(memory_ns), 0)::BIGINT AS memory_ns,
        coalesce(sum(on_chip_ns), 0)::BIGINT AS on_chip_ns,
        coalesce(sum(scalar_ns), 0)::BIGINT AS scalar_ns,
        coalesce(sum(wait_ns), 0)::BIGINT AS wait_ns,
        coalesce(sum(unbound_ns), 0)::BIGINT AS unbound_ns,
        coalesce(sum(aic_duration_ns), 0)::BIGINT AS aic_duration_ns,
        sum(aic_kernel_count)::BIGINT AS aic_kernel_count,
        sum(aic_uncounted_count)::BIGINT AS aic_uncounted_count,
        coalesce(sum(aic_uncounted_ns), 0)::BIGINT AS aic_uncounted_ns,
        mean_of_sums(aic_time_share) AS aic_time_share,
        mean_of_sums(aic_mac_ratio) AS aic_mac_ratio,
        mean_of_sums(aic_scalar_ratio) AS aic_scalar_ratio,
        mean_of_sums(aic_mte1_ratio) AS aic_mte1_ratio,
        mean_of_sums(aic_mte2_ratio) AS aic_mte2_ratio,
        mean_of_sums(aic_fixpipe_ratio) AS aic_fixpipe_ratio,
        mean_of_sums(cube_utilization) AS cube_utilization,
        sum(aic_l2_read_hits) / nullif(sum(aic_l2_reads), 0) AS aic_l2_read_hit_rate,
        sum(aic_l2_write_hits) / nullif(sum(aic_l2_writes), 0) AS aic_l2_write_hit_rate,
        coalesce(sum(aiv_duration_ns), 0)::BIGINT AS aiv_duration_ns,
        sum(aiv_kernel_count)::BIGINT AS aiv_kernel_count,
        sum(aiv_uncounted_count)::BIGINT AS aiv_uncounted_count,
        coalesce(sum(aiv_uncounted_ns), 0)::BIGINT AS aiv_uncounted_ns,
        mean_of_sums(aiv_time_share) AS aiv_time_share,
        mean_of_sums(aiv_vec_ratio) AS aiv_vec_ratio,
        mean_of_sums(aiv_scalar_ratio) AS aiv_scalar_ratio,
        mean_of_sums(aiv_mte2_ratio) AS aiv_mte2_ratio,
        mean_of_sums(aiv_mte3_ratio) AS aiv_mte3_ratio,
        sum(aiv_l2_read_hits) / nullif(sum(aiv_l2_reads), 0) AS aiv_l2_read_hit_rate,
        sum(aiv_l2_write_hits) / nullif(sum(aiv_l2_writes), 0) AS aiv_l2_write_hit_rate,
        mean_of_sums(occupancy) AS occupancy,
        coalesce(sum(occupancy_duration_ns), 0)::BIGINT AS occupancy_duration_ns,
        coalesce(sum(few_blocks_ns), 0)::BIGINT AS few_blocks_ns,
        mean_of_value_sums(blocks_per_sm) AS blocks_per_sm,
        mean_of_value_sums(warps_per_sm) AS warps_per_sm,
        mean_of_value_sums(registers_per_thread) AS registers_per_thread,
        mean_of_value_sums(shared_memory_bytes) AS shared_memory_bytes
    FROM at_level
    GROUP BY level, kind, type_id, core_id, op_name_id, path_id
)
SELECT
    level,
    kind,
    type_id,
    core_id,
    op_name_id,
    path_id,
    kernel_count,
    duration_ns,
    known_duration_ns,
    known_duration_ns / nullif(duration_ns, 0) AS known_share,
    CASE
        WHEN bound_count = 0 OR unbound_ns > compute_ns + memory_ns + on_chip_ns + scalar_ns + wait_ns THEN NULL
        ELSE
            CASE greatest(compute_ns, memory_ns, on_chip_ns, scalar_ns, wait_ns)
                WHEN compute_ns THEN 'compute'
                WHEN memory_ns THEN 'memory'
                WHEN on_chip_ns THEN 'on chip'
                WHEN scalar_ns THEN 'scalar'
                ELSE 'wait'
            END
    END AS bound,
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
    if(aic_uncounted_ns > aic_duration_ns, NULL, aic_time_share) AS aic_time_share,
    if(aic_uncounted_ns > aic_duration_ns, NULL, aic_mac_ratio) AS aic_mac_ratio,
    if(aic_uncounted_ns > aic_duration_ns, NULL, aic_scalar_ratio) AS aic_scalar_ratio,
    if(aic_uncounted_ns > aic_duration_ns, NULL, aic_mte1_ratio) AS aic_mte1_ratio,
    if(aic_uncounted_ns > aic_duration_ns, NULL, aic_mte2_ratio) AS aic_mte2_ratio,
    if(aic_uncounted_ns > aic_duration_ns, NULL, aic_fixpipe_ratio) AS aic_fixpipe_ratio,
    if(aic_uncounted_ns > aic_duration_ns, NULL, cube_utilization) AS cube_utilization,
    aic_l2_read_hit_rate,
    aic_l2_write_hit_rate,
    aiv_duration_ns,
    aiv_kernel_count,
    aiv_uncounted_count,
    aiv_uncounted_ns,
    if(aiv_uncounted_ns > aiv_duration_ns, NULL, aiv_time_share) AS aiv_time_share,
    if(aiv_uncounted_ns > aiv_duration_ns, NULL, aiv_vec_ratio) AS aiv_vec_ratio,
    if(aiv_uncounted_ns > aiv_duration_ns, NULL, aiv_scalar_ratio) AS aiv_scalar_ratio,
    if(aiv_uncounted_ns > aiv_duration_ns, NULL, aiv_mte2_ratio) AS aiv_mte2_ratio,
    if(aiv_uncounted_ns > aiv_duration_ns, NULL, aiv_mte3_ratio) AS aiv_mte3_ratio,
    aiv_l2_read_hit_rate,
    aiv_l2_write_hit_rate,
    occupancy,
    occupancy_duration_ns,
    few_blocks_ns,
    blocks_per_sm,
    warps_per_sm,
    registers_per_thread,
    shared_memory_bytes,
    CASE
        WHEN known_count = 0 THEN 'no counters were recorded'
        WHEN unbound_ns > compute_ns + memory_ns + on_chip_ns + scalar_ns + wait_ns
            THEN 'one kind of the cores that most kernels run on was not counted'
        WHEN bound_count = 0 THEN 'the set of counters has no ratios of pipes'
    END AS reason
FROM figure
