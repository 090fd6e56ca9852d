-- One row is a name and type of compute kernels that move or convert data and compute nothing, and their role.
--
-- name_id  TEXT_ID  name of the kernels
-- type_id  TEXT_ID  their type; NULL when it is not known
-- role     VARCHAR  format conversion, type conversion or copy, as below
--
-- For casts, transposes and the like, only this file knows names of operators and kernels. What runs inside another kernel has
-- no row. The roles, in order of precedence:
--   format conversion  from one format of tensors to another, such as ND to FRACTAL_NZ or NCHW to NHWC: TransData, and on GPUs
--                      nchwToNhwc of cuDNN, batched_transpose and transpose_NCHW2CNHW of MIOpen
--   type conversion    from one data type to another: Cast, and on GPUs copies of PyTorch that convert
--   copy               the same data in another order or place: TensorMove, AsStrided, ViewCopy, Transpose, whatever makes a
--                      tensor contiguous (aclnnContiguous) or copies it in place (aclnnInplaceCopy), copies of PyTorch on GPUs
WITH used_name AS (
    SELECT DISTINCT name_id, type_id
    FROM trace.kernel
    WHERE kind = 'compute'
),
named_kernel AS (
    SELECT
        used_name.name_id,
        used_name.type_id,
        name.text AS name,
        -- Knows aclnn, aicore, transdata: formulas are of operators, which have names.
        regexp_replace(lower(type.text), '_|aicore$', '', 'g') AS type
    FROM used_name
    LEFT JOIN trace.string AS name ON name.text_id = used_name.name_id
    LEFT JOIN trace.string AS type ON type.text_id = used_name.type_id
),
kernel_with_role AS (
    SELECT
        name_id,
        type_id,
        CASE
            WHEN regexp_matches(type, '^transdata|nchw(to|2)c?nhwc|nhwc(to|2)nchw|nchw2cnhw|cnhw2nchw|^batchedtranspose')
                THEN 'format conversion'
            WHEN type = 'cast'
                OR regexp_matches(name, 'float\d+\w*_copy_kernel|WithCastTensor|^triton_poi_fused__to_copy_\d+$')
                OR (contains(name, 'direct_copy_kernel') AND regexp_matches(name, 'WithCast|gpu_kernel_impl<'))
                THEN 'type conversion'
            WHEN type IN ('tensormove', 'asstrided', 'viewcopy', 'transpose', 'transposed', 'contiguous')
                OR regexp_matches(name, '^aclnn(Contiguous|InplaceCopy)_|direct_copy_kernel|^triton_poi_fused_clone_\d+$')
                THEN 'copy'
        END AS role
    FROM named_kernel
)
FROM kernel_with_role
WHERE role IS NOT NULL
