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
-- A peak that the user gives takes precedence over a published one, which is used only when requested, and that one over
-- cores * clock * operations. FLOAT without a record of whether it ran as HF32 has the peak that the user gives for fp32.
WITH given AS (
    SELECT
        string_split(entry, '=')[1] AS data_type,
        round(TRY_CAST(string_split(entry, '=')[2] AS DOUBLE) * 1000000)::BIGINT AS flops_per_us
    FROM unnest(getvariable('peak_tflops')::VARCHAR[]) AS entries (entry)
),
used AS (
    SELECT DISTINCT cube_kernel.device_id, shape.data_type
    FROM mfu.cube_kernel
    JOIN mfu.shape USING (shape_id)
    WHERE shape.data_type IS NOT NULL
),
with_peak AS (
    SELECT
        used.device_id,
        used.data_type,
        chip.core_count,
        chip.clock_mhz,
        if(given.data_type IS NULL AND published.product IS NULL, rate.operations_per_cycle, NULL) AS operations_per_cycle,
        coalesce(
            given.flops_per_us,
            round(published.tflops * 1000000)::BIGINT,
            chip.core_count * chip.clock_mhz * rate.operations_per_cycle
        ) AS peak_flops_per_us,
        CASE
            WHEN given.data_type IS NOT NULL THEN 'given for ' || given.data_type
            WHEN published.product IS NOT NULL THEN 'published for ' || published.product
            ELSE
                chip.origin || ': ' || chip.core_count || ' cores x ' || chip.clock_mhz || ' MHz x '
                || rate.operations_per_cycle
        END AS peak_from,
        chip.origin IS NULL AS has_no_chip
    FROM used
    JOIN mfu.chip ON chip.device_id IS NOT DISTINCT FROM used.device_id
    LEFT JOIN mfu.rate USING (data_type)
    LEFT JOIN given ON given.data_type = if(used.data_type = 'fp32 or hf32', 'fp32', used.data_type)
    LEFT JOIN mfu.published_peak AS published
        ON list_contains(getvariable('peak_tflops')::VARCHAR[], 'published')
        AND published.core_count = chip.core_count
        AND published.clock_mhz = chip.clock_mhz
        AND published.data_type = used.data_type
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
        WHEN has_no_chip THEN 'no info.json and no cube_utilization(%) tell cores and clock; give the peak of ' || data_type
        ELSE 'no peak is known for ' || data_type
    END AS reason
FROM with_peak
