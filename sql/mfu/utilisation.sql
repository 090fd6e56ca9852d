-- One row is a kernel that may multiply matrices, its FLOPs by recordings, marks and shapes, and the FLOPs that its device can
-- do in that time.
--
-- @guard mfu.multiplying
--
-- kernel_id          BIGINT   a kernel of mfu.cube_kernel
-- shape_id           BIGINT   its description in mfu.shape
-- input_shapes_id    TEXT_ID  as in mfu.shape
-- duration_ns        BIGINT   time, ns
-- flops              BIGINT   FLOPs; NULL when not known, and for a kernel that took no time or would exceed its peak
-- flops_source       VARCHAR  as in mfu.kernel_flops; NULL without flops
-- flops_name         VARCHAR  as in mfu.kernel_flops
-- padded_flops       BIGINT   as in mfu.kernel_flops
-- flops_upper_bound  BIGINT   where flops is NULL, an upper bound; NULL where that is unknown too
-- data_type          VARCHAR  as in mfu.shape
-- peak_tflops        DOUBLE   as in mfu.peak
-- peak_from          VARCHAR  as in mfu.peak
-- possible_flops     HUGEINT  FLOPs that the device can do in this time at the rated clock, in thousandths; NULL when no peak
--                             is known, and for a kernel that took no time
-- clock_mhz          BIGINT   the rated clock, MHz; NULL when not known
-- too_much           DOUBLE   efficiency that a kernel above its peak would have; NULL for all others
-- peer_ratio         BIGINT   flops / possible FLOPs by the definition of msprof-analyze 8.3, in 10^-12: only for the types
--                             that it knew, with the peak of fp16 for all floats, also above that peak; NULL for other types
--                             and below 10^-12
-- ratio              BIGINT   flops / possible_flops, in 10^-12; NULL where either is NULL, and below 10^-12
-- reason             VARCHAR  why flops is NULL
-- peak_reason        VARCHAR  why possible_flops is NULL
--
-- Most of the tables that it needs are of no use without matrix multiplications.
WITH peer_peak AS (
    SELECT shape.shape_id, chip.device_id, chip.core_count * chip.clock_mhz * rate.operations_per_cycle AS flops_per_us
    FROM mfu.shape
    JOIN trace.string AS type ON type.text_id = shape.type_id
    JOIN mfu.rate
        ON rate.data_type = if(shape.data_type IN ('bf16', 'fp32', 'hf32', 'fp32 or hf32'), 'fp16', shape.data_type)
    -- All pairs: a rank has few devices.
    CROSS JOIN mfu.chip
    -- Knows flashattentionscore: formulas are of operators, which have names.
    WHERE type.text IN ('MatMulV2', 'MatMulV3', 'FlashAttentionScore')
),
measured_kernel AS (
    SELECT
        kernel_flops.*,
        shape.data_type,
        shape.input_shapes_id,
        peak.clock_mhz,
        peak.peak_tflops,
        peak.peak_from,
        nullif(peak.peak_flops_per_us::HUGEINT * kernel_flops.duration_ns, 0) AS possible_flops,
        nullif(peer_peak.flops_per_us::HUGEINT * kernel_flops.duration_ns, 0) AS peer_possible_flops,
        CASE
            WHEN kernel_flops.duration_ns = 0 THEN 'it took no time'
            WHEN shape.data_type IS NULL THEN 'the data types were not recorded'
            ELSE peak.reason
        END AS peak_reason
    FROM mfu.kernel_flops
    JOIN mfu.shape USING (shape_id)
    LEFT JOIN mfu.peak ON peak.device_id IS NOT DISTINCT FROM kernel_flops.device_id AND peak.data_type = shape.data_type
    LEFT JOIN peer_peak
        ON peer_peak.shape_id = kernel_flops.shape_id AND peer_peak.device_id IS NOT DISTINCT FROM kernel_flops.device_id
),
compared_kernel AS (
    SELECT
        *,
        coalesce(flops::HUGEINT * 1000 > possible_flops, false) AS is_too_much,
        flops IS NOT NULL AND duration_ns > 0 AND NOT is_too_much AS is_known
    FROM measured_kernel
)
SELECT
    kernel_id,
    shape_id,
    input_shapes_id,
    duration_ns,
    if(is_known, flops, NULL) AS flops,
    if(is_known, flops_source, NULL) AS flops_source,
    flops_name,
    padded_flops,
    if(is_known, NULL, coalesce(flops, flops_upper_bound)) AS flops_upper_bound,
    data_type,
    peak_tflops,
    peak_from,
    possible_flops,
    clock_mhz,
    if(is_too_much, flops * 1000 / possible_flops, NULL) AS too_much,
    nullif(TRY_CAST(peer_flops::HUGEINT * 1000000000000000 // peer_possible_flops AS BIGINT), 0) AS peer_ratio,
    if(is_known, nullif(TRY_CAST(flops::HUGEINT * 1000000000000000 // possible_flops AS BIGINT), 0), NULL) AS ratio,
    CASE
        WHEN is_too_much THEN 'more FLOPs than its peak allows in its time (see MfuAudit)'
        WHEN NOT is_known THEN coalesce(reason, peak_reason)
    END AS reason,
    peak_reason
FROM compared_kernel
