WITH kernel AS (
    SELECT kernel_id, coalesce(type_id, name_id) AS text_id
    FROM trace.kernel
    WHERE kind = 'compute'
),
string AS (FROM trace.string)
FROM kernels_of_serving(kernel, string)
