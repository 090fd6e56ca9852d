-- One row is a type of kernels and the cores that they ran on, with their number and times as the profiler itself reported
-- them: op_statistic.csv, which leaves out communication. A type without number or time has no row.
--
-- type_id       TEXT_ID  operator type, such as MatMulV3
-- core_id       TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL when not reported
-- kernel_count  BIGINT   kernels
-- total_ns      BIGINT   their time, ns
-- min_ns        BIGINT   shortest time, ns; NULL when not reported
-- max_ns        BIGINT   longest time, ns; NULL when not reported
WITH recorded_type AS (
    FROM raw.recorded_kernel_type
    -- Where a file holds several devices, rows that name no device belong to the first one.
    WHERE getvariable('device_id') IS NULL OR coalesce(device_id, getvariable('first_device_id')) = getvariable('device_id')
),
incomplete AS (
    SELECT DISTINCT type
    FROM recorded_type
    WHERE kernel_count IS NULL OR total_ns IS NULL
)
SELECT
    text_id(type) AS type_id,
    text_id(core) AS core_id,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(total_ns)::BIGINT AS total_ns,
    if(count(*) = count(min_ns), min(min_ns), NULL) AS min_ns,
    if(count(*) = count(max_ns), max(max_ns), NULL) AS max_ns
FROM recorded_type
ANTI JOIN incomplete USING (type)
WHERE type IS NOT NULL
GROUP BY type, core
