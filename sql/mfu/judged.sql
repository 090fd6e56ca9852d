-- One row is a kernel that may multiply matrices, as far as counters and types say so, and its FLOPs: those of mfu.utilisation,
-- else those of the hardware counters.
--
-- kernel_id          BIGINT   a kernel of mfu.cube_kernel
-- input_shapes_id    TEXT_ID  as in mfu.shape
-- duration_ns        BIGINT   time, ns
-- flops              BIGINT   FLOPs; NULL when not known
-- flops_source       VARCHAR  as in mfu.kernel_flops, or counters; NULL without flops
-- @columns flops_name to peak_from as in mfu.utilisation
-- known_flops        BIGINT   flops where the peak is known too; else NULL
-- possible_flops     HUGEINT  FLOPs that the device can do in this time at the rated clock, in thousandths; NULL where
--                             known_flops is
-- clock_mhz          BIGINT   the rated clock, MHz; NULL when not known, and where known_flops is
-- too_much           DOUBLE   as in mfu.utilisation
-- mac_ratio          DOUBLE   of a kernel without a formula, part of the time of the cube cores in which the matrix unit
--                             worked, as in mfu.matrix_unit; NULL when not recorded, and for other kernels
-- reason             VARCHAR  why known_flops is NULL
WITH counted_kernel AS (
    SELECT
        utilisation.*,
        if(counted.flops::HUGEINT * 1000 > utilisation.possible_flops, NULL, counted.flops) AS counted_flops,
        counted.flops_upper_bound AS counted_upper_bound,
        matrix_unit.mac_ratio
    FROM mfu.utilisation
    LEFT JOIN mfu.vector_shape USING (shape_id)
    LEFT JOIN mfu.counted USING (kernel_id)
    LEFT JOIN mfu.matrix_unit USING (kernel_id)
    WHERE vector_shape.shape_id IS NULL OR utilisation.flops IS NOT NULL OR utilisation.too_much IS NOT NULL
),
known_kernel AS (
    SELECT
        * REPLACE (
            coalesce(flops, counted_flops) AS flops,
            if(flops IS NULL AND counted_flops IS NOT NULL, 'counters', flops_source) AS flops_source,
            if(flops IS NULL AND counted_flops IS NULL, least(flops_upper_bound, counted_upper_bound), NULL)
                AS flops_upper_bound,
            CASE
                WHEN flops IS NOT NULL OR counted_flops IS NOT NULL THEN peak_reason
                WHEN mac_ratio IS NOT NULL AND too_much IS NULL THEN 'the matrix unit worked, and ' || reason
                ELSE reason
            END AS reason
        ),
        coalesce(flops, counted_flops) IS NOT NULL AND possible_flops IS NOT NULL AS is_known
    FROM counted_kernel
)
SELECT
    kernel_id,
    input_shapes_id,
    duration_ns,
    flops,
    flops_source,
    flops_name,
    padded_flops,
    flops_upper_bound,
    data_type,
    peak_tflops,
    peak_from,
    if(is_known, flops, NULL) AS known_flops,
    if(is_known, possible_flops, NULL) AS possible_flops,
    if(is_known, clock_mhz, NULL) AS clock_mhz,
    too_much,
    mac_ratio,
    reason
FROM known_kernel
