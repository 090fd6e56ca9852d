-- The file names the devices of the host, as a rule all of one kind. Their numbers are not always those of the kernels: on AMD
-- these can count CPUs too.
WITH of_host AS (
    SELECT min(name) AS product, min(core_count) AS core_count
    FROM raw.device
    HAVING count(DISTINCT (name, core_count)) = 1
),
of_device AS (
    SELECT device_id, min(name) AS product, min(core_count) AS core_count
    FROM raw.device
    GROUP BY device_id
    HAVING count(DISTINCT (name, core_count)) = 1
)
SELECT
    used.device_id,
    coalesce(of_host.core_count, of_device.core_count) AS core_count,
    NULL::BIGINT AS vector_core_count,
    NULL::BIGINT AS clock_mhz,
    coalesce(of_host.product, of_device.product) AS product,
    'deviceProperties' AS origin
FROM (SELECT DISTINCT device_id FROM raw.device_work) AS used
LEFT JOIN of_host ON true
LEFT JOIN of_device ON of_device.device_id = used.device_id
