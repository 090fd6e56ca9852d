WITH grouped_name AS (
    SELECT text_id AS name_id
    FROM trace.string
    WHERE text_id IN (SELECT name FROM raw.device_work WHERE is_kernel) AND is_name_of_grouped_kernel(text)
)
SELECT kernel_id
FROM trace.kernel
SEMI JOIN grouped_name USING (name_id)
WHERE kind = 'compute'
