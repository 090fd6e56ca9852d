WITH named AS (
    SELECT text_id AS type_id
    FROM trace.string
    WHERE is_name_of_grouped_matmul(text)
)
SELECT kernel_id
FROM trace.kernel
SEMI JOIN named USING (type_id)
WHERE kind = 'compute'
