WITH kernel_name AS (
    SELECT text_id AS name_id, text AS name
    FROM raw.string
    WHERE text_id IN (SELECT name FROM raw.device_work WHERE is_kernel)
)
FROM families_of_kernels(kernel_name)
