-- One row is a description of an op and its FLOPs by the shapes and values of its inputs.
--
-- @guard trace.op_input
--
-- shape_id           BIGINT   a description of mfu.op_shape
-- flops              BIGINT   operations of the matrix products: a multiplication and an addition are two; NULL where the
--                             inputs do not determine them
-- flops_upper_bound  BIGINT   where flops is NULL, an upper bound; NULL where that is unknown too
-- reason             VARCHAR  why flops is NULL
--
-- A complex number has two parts, and an element of a packed type holds several numbers.
WITH counted_op AS (
    SELECT
        shape_id,
        flops,
        most_flops,
        if(flops IS NULL, 'the rows of the groups are not in the shapes', NULL) AS reason
    FROM mfu.op_product
    UNION ALL
    SELECT shape_id, flops, flops, NULL
    FROM mfu.op_convolution
    UNION ALL
    SELECT shape_id, flops, most_flops, reason
    FROM mfu.op_attention
    UNION ALL
    SELECT
        shape_id,
        NULL,
        NULL,
        if(flops_per_pair IS NULL, NULL, 'the lengths of the sequences in a paged cache are not in the shapes')
    FROM mfu.served_shape
),
judged_op AS (
    SELECT
        op_shape.shape_id,
        counted_op.flops,
        -- Of complex and packed numbers it would be less than the work.
        if(regexp_matches(op_shape.data_type, 'complex|_x\d|bits'), NULL, counted_op.most_flops) AS most_flops,
        CASE
            WHEN op_shape.reason IS NOT NULL THEN op_shape.reason
            WHEN op_shape.shapes IS NULL THEN 'the shapes were not recorded'
            WHEN regexp_matches(op_shape.data_type, 'complex|_x\d|bits') THEN
                'there is no formula for the data type ' || op_shape.data_type[:40]
            WHEN counted_op.reason IS NOT NULL THEN counted_op.reason
            WHEN counted_op.flops IS NULL AND starts_with(op_shape.form, 'convolution') AND op_shape.input_values IS NULL
                THEN 'the values of the inputs were not recorded'
            WHEN counted_op.flops IS NULL THEN 'the shapes do not fit the op'
            WHEN TRY_CAST(counted_op.flops AS BIGINT) IS NULL THEN 'the shapes are too large to be true'
        END AS reason
    FROM mfu.op_shape
    LEFT JOIN counted_op USING (shape_id)
)
SELECT
    shape_id,
    if(reason IS NULL, TRY_CAST(flops AS BIGINT), NULL) AS flops,
    if(reason IS NULL, NULL, TRY_CAST(most_flops AS BIGINT)) AS flops_upper_bound,
    reason
FROM judged_op
