-- The file names the devices of the host, as a rule all of one kind. Their numbers are not always those of the kernels: on AMD
-- these can count CPUs too.
--
-- TF32 came with compute capability 8 (NVIDIA A100 Tensor Core GPU Architecture white paper). AMD calls it XF32, which CDNA 3
-- has, and neither CDNA 1 and 2 nor CDNA 4 (AMD Instinct MI300 and CDNA 4 instruction set references).
WITH device AS (
    SELECT
        *,
        CASE
            WHEN regexp_matches(name, '\bMI3[0-4]\d') THEN true
            WHEN regexp_matches(name, '\bMI\d{3}|Radeon|AMD') THEN false
            WHEN compute_major > 0 THEN compute_major >= 8
        END AS has_tf32
    FROM raw.device
),
of_host AS (
    SELECT min(name) AS product, min(core_count) AS core_count, bool_and(has_tf32) AS has_tf32
    FROM device
    HAVING count(DISTINCT (name, core_count)) = 1
),
of_device AS (
    SELECT device_id, min(name) AS product, min(core_count) AS core_count, bool_and(has_tf32) AS has_tf32
    FROM device
    GROUP BY device_id
    HAVING count(DISTINCT (name, core_count)) = 1
)
SELECT
    used.device_id,
    coalesce(of_host.core_count, of_device.core_count) AS core_count,
    NULL::BIGINT AS vector_core_count,
    NULL::BIGINT AS clock_mhz,
    coalesce(of_host.product, of_device.product) AS product,
    if(of_host.product IS NULL, of_device.has_tf32, of_host.has_tf32) AS has_tf32,
    'deviceProperties' AS origin
FROM (SELECT DISTINCT device_id FROM raw.device_work) AS used
LEFT JOIN of_host ON true
LEFT JOIN of_device ON of_device.device_id = used.device_id
