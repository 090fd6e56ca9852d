-- One row is a device and a data type of its kernels, with the peak against which their MFU is measured.
--
-- device_id              BIGINT   device; NULL when not recorded
-- data_type              VARCHAR  as in mfu.shape
-- core_count             BIGINT   cube cores; NULL when not known
-- clock_mhz              BIGINT   rated clock, MHz; NULL when not known
-- operations_per_cycle   BIGINT   as in mfu.rate; NULL where the peak is given or published
-- peak_flops_per_us      BIGINT   operations in a microsecond; NULL when not known
-- peak_tflops            DOUBLE   the same in 10^12 per second
-- peak_from              VARCHAR  where the peak comes from
-- reason                 VARCHAR  why there is no peak; else NULL
--
-- A peak that the user gives takes precedence over a published one, which is used only when requested, and that one over the
-- data sheet of the product, or cores * clock * operations. FLOAT without a record of whether it ran as HF32, or FP32 as TF32,
-- has the peak that the user gives for fp32. A part of a device, as of a partitioned GPU, has no peak.
WITH given_peak AS (
    SELECT
        string_split(entry, '=')[1] AS data_type,
        round(TRY_CAST(string_split(entry, '=')[2] AS DOUBLE) * 1000000)::BIGINT AS flops_per_us
    FROM unnest(getvariable('peak_tflops')::VARCHAR[]) AS entries (entry)
),
used_type AS (
    SELECT DISTINCT cube_kernel.device_id, shape.data_type
    FROM mfu.cube_kernel
    JOIN mfu.shape USING (shape_id)
    WHERE shape.data_type IS NOT NULL
),
known_product AS (
    SELECT
        chip.device_id,
        product_peak.product,
        product_peak.data_type,
        product_peak.tflops,
        product_peak.core_count,
        coalesce(chip.core_count <> product_peak.core_count, false) OR contains(chip.product, ' MIG ') AS is_part
    FROM mfu.chip
    -- Devices and products are few.
    JOIN mfu.product_peak ON regexp_matches(chip.product, product_peak.pattern)
),
with_peak AS (
    SELECT
        used_type.device_id,
        used_type.data_type,
        chip.core_count,
        chip.clock_mhz,
        chip.clock_mhz IS NULL AND chip.origin IS NOT NULL AS has_no_clock,
        if(
            given_peak.data_type IS NULL AND published.product IS NULL AND known_product.product IS NULL AND NOT has_no_clock,
            rate.operations_per_cycle,
            NULL
        ) AS operations_per_cycle,
        coalesce(
            given_peak.flops_per_us,
            round(published.tflops * 1000000)::BIGINT,
            round(known_product.tflops * 1000000)::BIGINT,
            chip.core_count * chip.clock_mhz * rate.operations_per_cycle
        ) AS peak_flops_per_us,
        CASE
            WHEN given_peak.data_type IS NOT NULL THEN 'given for ' || given_peak.data_type
            WHEN published.product IS NOT NULL THEN 'published for ' || published.product
            WHEN known_product.product IS NOT NULL THEN 'data sheet of ' || known_product.product
            ELSE
                chip.origin || ': ' || chip.core_count || ' cores x ' || chip.clock_mhz || ' MHz x '
                || rate.operations_per_cycle
        END AS peak_from,
        chip.origin IS NULL AS has_no_chip,
        chip.product,
        part.product AS part_of,
        part.core_count AS all_cores
    FROM used_type
    JOIN mfu.chip ON chip.device_id IS NOT DISTINCT FROM used_type.device_id
    LEFT JOIN mfu.rate USING (data_type)
    LEFT JOIN given_peak
        ON given_peak.data_type = if(used_type.data_type IN ('fp32 or hf32', 'fp32 or tf32'), 'fp32', used_type.data_type)
    LEFT JOIN mfu.published_peak AS published
        ON list_contains(getvariable('peak_tflops')::VARCHAR[], 'published')
        AND published.core_count = chip.core_count
        AND published.clock_mhz = chip.clock_mhz
        AND published.data_type = used_type.data_type
    LEFT JOIN known_product
        ON known_product.device_id IS NOT DISTINCT FROM used_type.device_id
        AND known_product.data_type = used_type.data_type
        AND NOT known_product.is_part
    LEFT JOIN (SELECT DISTINCT device_id, product, core_count FROM known_product WHERE is_part) AS part
        ON part.device_id IS NOT DISTINCT FROM used_type.device_id
)
SELECT
    device_id,
    data_type,
    core_count,
    clock_mhz,
    operations_per_cycle,
    peak_flops_per_us,
    peak_flops_per_us / 1000000 AS peak_tflops,
    peak_from,
    CASE
        WHEN peak_flops_per_us IS NOT NULL THEN NULL
        WHEN data_type = 'fp32 or hf32' THEN 'not recorded whether FLOAT ran as HF32; give its peak, as in fp32=99.5'
        WHEN data_type = 'fp32 or tf32' THEN 'not recorded whether FP32 ran as TF32; give its peak, as in fp32=67'
        -- Knows cube_utilization, info.json: a sentence for users, which says what is missing.
        WHEN has_no_chip THEN 'no info.json and no cube_utilization(%) tell cores and clock; give the peak of ' || data_type
        WHEN part_of IS NOT NULL THEN
            'the device is a part of ' || part_of || ', with ' || coalesce(core_count::VARCHAR, 'some') || ' of ' || all_cores
            || ' cores; give the peak of ' || data_type
        WHEN has_no_clock AND product IS NULL THEN 'the profile does not name the device; give the peak of ' || data_type
        WHEN has_no_clock THEN 'no peak of ' || data_type || ' is known for ' || product[:60] || '; give it'
        ELSE 'no peak is known for ' || data_type
    END AS reason
FROM with_peak
