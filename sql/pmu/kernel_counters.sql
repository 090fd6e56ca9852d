-- One row is a kernel with hardware counters, and those that show how its pipes and caches worked. Values of a core that the
-- kernel did not use are NULL; a kernel for which both cores show nothing but 0 has no row.
--
-- kernel_id            BIGINT   a kernel of trace.kernel
-- duration_ns          BIGINT   end - start
-- aic_runs             BOOLEAN  whether it ran on cube cores
-- aiv_runs             BOOLEAN  whether it ran on vector cores; on chips with one kind of core (910A, 310P) the same
-- aic_is_uncounted     BOOLEAN  whether it runs on cube cores too, and nothing but 0 was recorded of them: not counted, so what
--                               they did is not known
-- aiv_is_uncounted     BOOLEAN  the same for vector cores
-- aic_time_ns          DOUBLE   time of the cube cores, ns; NULL when not recorded
-- aiv_time_ns          DOUBLE   time of the vector cores, ns; NULL when not recorded
-- aic_mac_ratio        DOUBLE   part of the core's time in which the matrix unit worked
-- aic_scalar_ratio     DOUBLE   the same for the scalar unit
-- aic_mte1_ratio       DOUBLE   the same for moving L1 to L0
-- aic_mte2_ratio       DOUBLE   the same for moving memory to the core
-- aic_fixpipe_ratio    DOUBLE   the same for moving results out of the core
-- aiv_vec_ratio        DOUBLE   part of the core's time in which the vector unit worked
-- aiv_scalar_ratio     DOUBLE   the same for the scalar unit
-- aiv_mte2_ratio       DOUBLE   the same for moving memory to the core
-- aiv_mte3_ratio       DOUBLE   the same for moving results out of the core
-- cube_utilization     DOUBLE   part of the cycles of all cube cores in the kernel's time in which it used them: as recorded,
--                               else cycles / (rated clock * cores * time); NULL when neither is known
-- aic_l2_read_hits     HUGEINT  reads of the cube cores that hit the L2 cache
-- aic_l2_reads         HUGEINT  reads of the cube cores that hit or missed it
-- aic_l2_write_hits    HUGEINT  writes of the cube cores that hit the L2 cache
-- aic_l2_writes        HUGEINT  writes of the cube cores that hit or missed it
-- aiv_l2_read_hits     HUGEINT  reads of the vector cores that hit the L2 cache
-- aiv_l2_reads         HUGEINT  reads of the vector cores that hit or missed it
-- aiv_l2_write_hits    HUGEINT  writes of the vector cores that hit the L2 cache
-- aiv_l2_writes        HUGEINT  writes of the vector cores that hit or missed it
-- occupancy            DOUBLE   part of the warps that a streaming multiprocessor (SM) can hold which the kernel keeps there,
--                               as estimated from its launch; NULL when not known
-- blocks_per_sm        DOUBLE   blocks of the launch / SMs of the device; NULL when not recorded
-- warps_per_sm         DOUBLE   warps of the launch / SMs of the device; NULL when not recorded
-- registers_per_thread DOUBLE   registers that a thread takes; NULL when not recorded
-- shared_memory_bytes  DOUBLE   shared memory that a block takes; NULL when not recorded
--
-- A kernel on both kinds of cores (MIX) of which only one shows anything but 0 was not counted whole, as all such kernels of
-- captured graphs are, whose mix_block_num is 0 too. Outside graphs 0 blocks of the other kind beside some of the first say
-- that it did not run there.
--
-- On chips with one kind of core, names have no prefix: counters of the vector unit and of moving results out are in the
-- columns of aiv, all others in those of aic.
WITH named_metric AS (
    SELECT text_id, lower(text) AS name
    FROM trace.string
    WHERE text_id IN (SELECT DISTINCT metric_id FROM trace.kernel_metric)
),
prefixed AS (
    SELECT
        text_id,
        CASE
            -- Knows aic_, aiv_, cube_utilization, fixpipe, mte1, mte2, mte3: counters are of one kind of hardware.
            WHEN regexp_matches(name, '^(aic_|aiv_|cube_utilization$)') THEN name
            -- Of the launch of a kernel, not of a core.
            WHEN name IN (
                'est. achieved occupancy %', 'blocks per sm', 'warps per sm', 'registers per thread', 'shared memory'
            ) THEN name
            WHEN regexp_matches(name, '^(vec|mte3)_ratio$') THEN 'aiv_' || name
            ELSE 'aic_' || name
        END AS name,
        regexp_matches(name, '^(vec|mte3)_ratio$') AS is_of_one_core
    FROM named_metric
),
counter AS (
    SELECT
        text_id,
        left(name, 3) AS core,
        is_of_one_core,
        TRY_CAST(
            CASE
                -- Caches are read through two ports, r0 and r1; those of the 950 have another name in the middle.
                WHEN regexp_matches(name, '^ai[cv]_.*(read|write).*_(hit|miss|miss_allocate)$')
                    THEN regexp_replace(name, '^(ai[cv])_.*(read|write).*_(hit|miss)(_allocate)?$', '\1_l2_\2_\3')
                ELSE name
            END
            AS ENUM(
                'aic_total_time', 'aic_total_cycles', 'aiv_total_time', 'aiv_total_cycles', 'aic_mac_ratio', 'aic_scalar_ratio',
                'aic_mte1_ratio', 'aic_mte2_ratio', 'aic_fixpipe_ratio', 'aiv_vec_ratio', 'aiv_scalar_ratio', 'aiv_mte2_ratio',
                'aiv_mte3_ratio', 'cube_utilization', 'aic_l2_read_hit', 'aic_l2_read_miss', 'aic_l2_write_hit',
                'aic_l2_write_miss', 'aiv_l2_read_hit', 'aiv_l2_read_miss', 'aiv_l2_write_hit', 'aiv_l2_write_miss',
                'est. achieved occupancy %', 'blocks per sm', 'warps per sm', 'registers per thread', 'shared memory'
            )
        ) AS counter
    FROM prefixed
),
metric AS NOT MATERIALIZED (
    SELECT metric.kernel_id, metric.value, counter.core, counter.is_of_one_core, counter.counter
    FROM trace.kernel_metric AS metric
    JOIN counter ON counter.text_id = metric.metric_id
    WHERE isfinite(metric.value)
),
-- By kernel and core: with a maximum of each counter in one row of a kernel, it takes three times as long.
of_core AS (
    SELECT
        kernel_id,
        core,
        bool_or(is_of_one_core) AS has_one_core,
        max(value) FILTER (counter IN ('aic_total_time', 'aiv_total_time')) AS time_ns,
        max(value) FILTER (counter IN ('aic_total_cycles', 'aiv_total_cycles')) AS cycles,
        max(value) FILTER (counter IN ('aic_mac_ratio', 'aiv_vec_ratio')) AS compute_ratio,
        max(value) FILTER (counter IN ('aic_scalar_ratio', 'aiv_scalar_ratio')) AS scalar_ratio,
        max(value) FILTER (counter IN ('aic_mte2_ratio', 'aiv_mte2_ratio')) AS mte2_ratio,
        max(value) FILTER (counter IN ('aic_mte1_ratio', 'aiv_mte3_ratio')) AS other_mte_ratio,
        max(value) FILTER (counter = 'aic_fixpipe_ratio') AS fixpipe_ratio
    FROM metric
    WHERE core IN ('aic', 'aiv')
    GROUP BY kernel_id, core
),
cube AS (
    SELECT *
    FROM of_core
    WHERE core = 'aic'
),
vector AS (
    SELECT *
    FROM of_core
    WHERE core = 'aiv'
),
of_no_core AS (
    SELECT
        kernel_id,
        max(value) FILTER (counter = 'cube_utilization') / 100 AS cube_utilization,
        max(value) FILTER (counter = 'est. achieved occupancy %') / 100 AS occupancy,
        max(value) FILTER (counter = 'blocks per sm') AS blocks_per_sm,
        max(value) FILTER (counter = 'warps per sm') AS warps_per_sm,
        max(value) FILTER (counter = 'registers per thread') AS registers_per_thread,
        max(value) FILTER (counter = 'shared memory') AS shared_memory_bytes
    FROM metric
    WHERE core NOT IN ('aic', 'aiv')
    GROUP BY kernel_id
),
cache AS (
    SELECT
        kernel_id,
        sum(TRY_CAST(value AS BIGINT)) FILTER (counter = 'aic_l2_read_hit') AS aic_l2_read_hits,
        sum(TRY_CAST(value AS BIGINT)) FILTER (counter = 'aic_l2_read_miss') AS aic_l2_read_misses,
        sum(TRY_CAST(value AS BIGINT)) FILTER (counter = 'aic_l2_write_hit') AS aic_l2_write_hits,
        sum(TRY_CAST(value AS BIGINT)) FILTER (counter = 'aic_l2_write_miss') AS aic_l2_write_misses,
        sum(TRY_CAST(value AS BIGINT)) FILTER (counter = 'aiv_l2_read_hit') AS aiv_l2_read_hits,
        sum(TRY_CAST(value AS BIGINT)) FILTER (counter = 'aiv_l2_read_miss') AS aiv_l2_read_misses,
        sum(TRY_CAST(value AS BIGINT)) FILTER (counter = 'aiv_l2_write_hit') AS aiv_l2_write_hits,
        sum(TRY_CAST(value AS BIGINT)) FILTER (counter = 'aiv_l2_write_miss') AS aiv_l2_write_misses
    FROM metric
    WHERE counter LIKE '%_l2_%'
    GROUP BY kernel_id
),
-- A core that a kernel did not use shows neither time nor cycles; a time of 0 with cycles was not measured.
counted AS (
    SELECT
        kernel.kernel_id,
        kernel.duration_ns,
        kernel.device_id,
        coalesce(kernel.engine = 'matrix and vector', false)
        AND NOT coalesce(kernel.model_id IS NULL AND kernel.block_num > 0 AND kernel.mix_block_num = 0, false) AS is_on_both,
        cube.kernel_id IS NOT NULL AS has_aic,
        vector.kernel_id IS NOT NULL AS has_aiv,
        if(vector.has_one_core, cube.time_ns, vector.time_ns) AS vector_time_ns,
        if(vector.has_one_core, cube.cycles, vector.cycles) AS vector_cycles,
        has_aic AND coalesce(greatest(cube.time_ns, cube.cycles) > 0, true) AS aic_runs,
        has_aiv AND coalesce(greatest(vector_time_ns, vector_cycles) > 0, true) AS aiv_runs,
        nullif(cube.time_ns, 0) AS aic_time_ns,
        nullif(vector_time_ns, 0) AS aiv_time_ns,
        cube.cycles AS aic_cycles,
        cube.compute_ratio AS aic_mac_ratio,
        cube.scalar_ratio AS aic_scalar_ratio,
        cube.other_mte_ratio AS aic_mte1_ratio,
        cube.mte2_ratio AS aic_mte2_ratio,
        cube.fixpipe_ratio AS aic_fixpipe_ratio,
        vector.compute_ratio AS aiv_vec_ratio,
        vector.scalar_ratio AS aiv_scalar_ratio,
        vector.mte2_ratio AS aiv_mte2_ratio,
        vector.other_mte_ratio AS aiv_mte3_ratio,
        of_no_core.* EXCLUDE (kernel_id)
    FROM trace.kernel
    LEFT JOIN cube USING (kernel_id)
    LEFT JOIN vector USING (kernel_id)
    LEFT JOIN of_no_core USING (kernel_id)
)
SELECT
    kernel_id,
    duration_ns,
    aic_runs,
    aiv_runs,
    is_on_both AND has_aic AND aiv_runs AND NOT aic_runs AS aic_is_uncounted,
    is_on_both AND has_aiv AND aic_runs AND NOT aiv_runs AS aiv_is_uncounted,
    if(aic_runs, aic_time_ns, NULL) AS aic_time_ns,
    if(aiv_runs, aiv_time_ns, NULL) AS aiv_time_ns,
    if(aic_runs, aic_mac_ratio, NULL) AS aic_mac_ratio,
    if(aic_runs, aic_scalar_ratio, NULL) AS aic_scalar_ratio,
    if(aic_runs, aic_mte1_ratio, NULL) AS aic_mte1_ratio,
    if(aic_runs, aic_mte2_ratio, NULL) AS aic_mte2_ratio,
    if(aic_runs, aic_fixpipe_ratio, NULL) AS aic_fixpipe_ratio,
    if(aiv_runs, aiv_vec_ratio, NULL) AS aiv_vec_ratio,
    if(aiv_runs, aiv_scalar_ratio, NULL) AS aiv_scalar_ratio,
    if(aiv_runs, aiv_mte2_ratio, NULL) AS aiv_mte2_ratio,
    if(aiv_runs, aiv_mte3_ratio, NULL) AS aiv_mte3_ratio,
    if(
        aic_runs,
        coalesce(
            cube_utilization,
            aic_cycles * 1000 / nullif(chip.clock_mhz::DOUBLE * chip.core_count * duration_ns, 0)
        ),
        NULL
    ) AS cube_utilization,
    aic_l2_read_hits,
    aic_l2_read_hits + aic_l2_read_misses AS aic_l2_reads,
    aic_l2_write_hits,
    aic_l2_write_hits + aic_l2_write_misses AS aic_l2_writes,
    aiv_l2_read_hits,
    aiv_l2_read_hits + aiv_l2_read_misses AS aiv_l2_reads,
    aiv_l2_write_hits,
    aiv_l2_write_hits + aiv_l2_write_misses AS aiv_l2_writes,
    occupancy,
    blocks_per_sm,
    warps_per_sm,
    registers_per_thread,
    shared_memory_bytes
FROM counted
LEFT JOIN cache USING (kernel_id)
LEFT JOIN trace.chip AS chip ON chip.device_id = counted.device_id
WHERE aic_runs
   OR aiv_runs
   OR coalesce(occupancy, blocks_per_sm, warps_per_sm, registers_per_thread, shared_memory_bytes) IS NOT NULL
