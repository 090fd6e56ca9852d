-- One row is a kernel that may multiply matrices, what it did, and what its device can do in that time.
--
-- kernel_id              BIGINT   a kernel of mfu.cube_kernel
-- duration_ns            BIGINT   time, ns
-- flops                  BIGINT   FLOPs; NULL when not known
-- flops_source           VARCHAR  as in mfu.kernel_flops
-- flops_name             VARCHAR  as in mfu.kernel_flops
-- padded_flops           BIGINT   as in mfu.kernel_flops
-- flops_upper_bound      BIGINT   as in mfu.kernel_flops
-- data_type              VARCHAR  as in mfu.shape
-- peak_tflops            DOUBLE   as in mfu.peak
-- peak_from              VARCHAR  as in mfu.peak
-- known_flops            BIGINT   flops where a peak and a time go with it, else NULL
-- possible_flops         HUGEINT  FLOPs of the device in this time at the rated clock, in thousandths; NULL where known_flops
--                                 is
-- clock_mhz              BIGINT   the rated clock, MHz; NULL when not known, and where known_flops is
-- peer_ratio             BIGINT   by the definition of msprof-analyze 8.3, in 10^-12: for the types it knew, with the peak of
--                                 fp16 for all floats; NULL for others and below 10^-12
-- ratio                  BIGINT   known_flops / possible_flops in 10^-12; NULL where known_flops is
-- reason                 VARCHAR  why known_flops is NULL
--
-- Only when mfu.family has rows. Most of what stands behind it is of no use to a profile without matrix multiplications.
WITH peer_peak AS (
    SELECT shape.shape_id, chip.device_id, chip.core_count * chip.clock_mhz * rate.operations_per_cycle AS flops_per_us
    FROM mfu.shape
    JOIN trace.string AS type ON type.text_id = shape.type_id
    JOIN mfu.rate
        ON rate.data_type = if(shape.data_type IN ('bf16', 'fp32', 'hf32', 'fp32 or hf32'), 'fp16', shape.data_type)
    CROSS JOIN mfu.chip
    WHERE type.text IN ('MatMulV2', 'MatMulV3', 'FlashAttentionScore')
),
judged AS (
    SELECT
        kernel_flops.*,
        shape.data_type,
        peak.clock_mhz,
        peak.peak_flops_per_us,
        peak.peak_tflops,
        peak.peak_from,
        peer_peak.flops_per_us AS peer_flops_per_us,
        coalesce(
            kernel_flops.reason,
            CASE
                WHEN shape.data_type IS NULL THEN 'the data types were not recorded'
                WHEN kernel_flops.duration_ns = 0 THEN 'it took no time'
            END,
            peak.reason
        ) AS why_not
    FROM mfu.kernel_flops
    JOIN mfu.shape USING (shape_id)
    LEFT JOIN mfu.peak ON peak.device_id IS NOT DISTINCT FROM kernel_flops.device_id AND peak.data_type = shape.data_type
    LEFT JOIN peer_peak
        ON peer_peak.shape_id = kernel_flops.shape_id AND peer_peak.device_id IS NOT DISTINCT FROM kernel_flops.device_id
)
SELECT
    kernel_id,
    duration_ns,
    flops,
    flops_source,
    flops_name,
    padded_flops,
    flops_upper_bound,
    data_type,
    peak_tflops,
    peak_from,
    if(why_not IS NULL, flops, NULL) AS known_flops,
    if(why_not IS NULL, peak_flops_per_us::HUGEINT * duration_ns, NULL) AS possible_flops,
    if(why_not IS NULL, clock_mhz, NULL) AS clock_mhz,
    nullif(TRY_CAST(peer_flops::HUGEINT * 1000000000000000 // (peer_flops_per_us::HUGEINT * duration_ns) AS BIGINT), 0)
        AS peer_ratio,
    if(
        why_not IS NULL,
        nullif(TRY_CAST(flops::HUGEINT * 1000000000000000 // (peak_flops_per_us::HUGEINT * duration_ns) AS BIGINT), 0),
        NULL
    ) AS ratio,
    why_not AS reason
FROM judged
