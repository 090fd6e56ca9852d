-- One row is a description of mfu.shape and its FLOPs by shapes and types.
--
-- shape_id           BIGINT   a description of mfu.shape
-- flops              BIGINT   floating-point (or integer) operations of the matrix products: a multiplication and an addition
--                             are two; NULL where the shapes do not determine them
-- padded_flops       BIGINT   the same on the dims as recorded, where a padded format holds more than the tensor; else flops
-- flops_upper_bound  BIGINT   where flops is NULL, an upper bound; NULL where that is unknown too
-- source             VARCHAR  shapes, padded shapes where the dims without padding are not known, or op shapes where the op is
--                             described; NULL without flops
-- reason             VARCHAR  why flops is NULL
WITH attention AS (
    SELECT
        shape_id,
        CASE
            WHEN bool_or(paged_tokens IS NOT NULL) THEN 'the lengths of the sequences in a paged cache are not in the shapes'
            WHEN bool_or(has_lengths OR (is_told AND layout = 'TND')) THEN 'the lengths of the sequences are not in the shapes'
            WHEN NOT bool_or(is_told) THEN 'the shapes fit several layouts, or none'
            WHEN bool_or(has_mask) THEN 'what the mask leaves out is not in the shapes'
        END AS reason,
        max(flops_per_key * kv_tokens) FILTER (is_told) AS dense_flops,
        max(TRY(flops_per_key * coalesce(paged_tokens, kv_tokens))) AS flops_upper_bound
    FROM mfu.attention
    GROUP BY shape_id
),
counted_shape AS (
    SELECT shape_id, flops, padded_flops, NULL AS flops_upper_bound, is_padded, NULL AS reason
    FROM mfu.matmul
    UNION ALL BY NAME
    SELECT shape_id, flops, flops AS padded_flops, is_padded
    FROM mfu.fused_matmul
    UNION ALL BY NAME
    SELECT
        shape_id,
        flops,
        flops AS padded_flops,
        if(flops IS NULL, flops_at_most, NULL) AS flops_upper_bound,
        if(flops IS NULL, 'the rows of the groups are not in the shapes', NULL) AS reason
    FROM mfu.grouped_matmul
    UNION ALL BY NAME
    SELECT shape_id, flops, padded_flops, is_padded
    FROM mfu.convolution
    UNION ALL BY NAME
    SELECT
        shape_id,
        if(reason IS NULL, dense_flops, NULL) AS flops,
        if(reason IS NULL, dense_flops, NULL) AS padded_flops,
        if(reason IS NULL, NULL, flops_upper_bound) AS flops_upper_bound,
        false AS is_padded,
        reason
    FROM attention
    UNION ALL BY NAME
    SELECT shape_id, flops, flops AS padded_flops, flops_upper_bound, false AS is_padded, reason
    FROM mfu.op_flops
)
SELECT
    shape.shape_id,
    TRY_CAST(counted_shape.flops AS BIGINT) AS flops,
    TRY_CAST(counted_shape.padded_flops AS BIGINT) AS padded_flops,
    TRY_CAST(counted_shape.flops_upper_bound AS BIGINT) AS flops_upper_bound,
    CASE
        WHEN TRY_CAST(counted_shape.flops AS BIGINT) IS NULL THEN NULL
        WHEN shape.family = 'op' THEN 'op shapes'
        WHEN counted_shape.is_padded THEN 'padded shapes'
        ELSE 'shapes'
    END AS source,
    CASE
        WHEN TRY_CAST(counted_shape.flops AS BIGINT) IS NOT NULL THEN NULL
        WHEN counted_shape.reason IS NOT NULL THEN counted_shape.reason
        WHEN shape.type_id IS NULL THEN 'the operator type was not recorded'
        WHEN shape.family IS NULL THEN 'there is no formula for the operator type'
        WHEN shape.input_shapes_id IS NULL OR shape.output_shapes_id IS NULL THEN 'the shapes were not recorded'
        WHEN counted_shape.flops IS NOT NULL THEN 'the shapes are too large to be true'
        ELSE 'the shapes do not fit the operator type'
    END AS reason
FROM mfu.shape
LEFT JOIN counted_shape USING (shape_id)
