-- The counters in the database give no core count, so only info.json has it. Where a device has several files info.json, they
-- must agree.
SELECT
    device_id,
    min(core_count) AS core_count,
    min(vector_core_count) AS vector_core_count,
    min(clock_mhz) AS clock_mhz,
    NULL::VARCHAR AS product,
    NULL::BOOLEAN AS has_tf32,
    min(file) AS origin
FROM raw.device_info
WHERE core_count IS NOT NULL AND clock_mhz IS NOT NULL
GROUP BY device_id
HAVING count(DISTINCT (core_count, clock_mhz)) = 1
