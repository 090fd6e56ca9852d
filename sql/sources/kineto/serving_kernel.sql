-- What a general kernel does stands in the arguments of its template, which its type leaves out.
WITH kernel AS (
    SELECT kernel_id, name_id AS text_id
    FROM trace.kernel
    WHERE kind = 'compute'
),
string AS (FROM trace.string)
FROM kernels_of_serving(kernel, string)
