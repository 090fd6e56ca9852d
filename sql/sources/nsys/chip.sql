-- TF32 came with compute capability 8 (NVIDIA A100 Tensor Core GPU Architecture white paper).
WITH of_device AS (
    SELECT
        device_id,
        min(name) AS product,
        min(core_count) AS core_count,
        min(clock_mhz) AS clock_mhz,
        min(compute_major) >= 8 AS has_tf32
    FROM raw.device
    GROUP BY device_id
    HAVING count(DISTINCT name) <= 1 AND count(DISTINCT core_count) <= 1
)
SELECT
    used.device_id,
    of_device.core_count,
    NULL::BIGINT AS vector_core_count,
    of_device.clock_mhz,
    of_device.product,
    of_device.has_tf32,
    'TARGET_INFO_GPU' AS origin
FROM (SELECT DISTINCT device_id FROM raw.device_work) AS used
JOIN of_device USING (device_id)
