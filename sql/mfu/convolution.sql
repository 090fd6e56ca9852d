-- One row is a description of a convolution, forward or backward.
--
-- @guard mfu.convolution_shape
--
-- shape_id      BIGINT   a description of mfu.shape
-- flops         HUGEINT  2 * (positions of the output, over the batch) * (elements of the weight)
-- padded_flops  HUGEINT  the same with the weight's channels as recorded, padding included
-- is_padded     BOOLEAN  whether flops is on padded channels, since the true ones are not known
--
-- Forward and both gradients do the same work: each element of the weight meets each position of the output of an image once.
WITH operand AS (
    SELECT
        shape.shape_id,
        shape.family,
        tensor.is_output,
        row_number() OVER (PARTITION BY shape.shape_id, tensor.is_output ORDER BY tensor.position) AS number,
        count_of(tensor.true_dims) AS true_count,
        tensor.element_count,
        CASE
            WHEN tensor.format IN ('NC1HWC0', 'NCHW', 'ND') AND len(dims) BETWEEN 4 AND 5 THEN
                CASE
                    WHEN tensor.format = 'ND' AND len(dims) = 5 THEN dims[1] * dims[3] * dims[4] * dims[5]
                    ELSE dims[1] * dims[3] * dims[4]
                END
            WHEN tensor.format = 'NHWC' THEN dims[1] * dims[2] * dims[3]
            WHEN tensor.format = 'NCDHW' THEN dims[1] * dims[3] * dims[4] * dims[5]
            WHEN tensor.format = 'NDHWC' THEN dims[1] * dims[2] * dims[3] * dims[4]
            WHEN tensor.format = 'NDC1HWC0' THEN dims[1] * dims[2] * dims[4] * dims[5]
        END AS position_count
    FROM mfu.convolution_shape AS shape
    JOIN mfu.tensor USING (shape_id)
    WHERE len(tensor.dims) >= 4
),
-- Which operand is the weight, and which has the positions of the output: the output or its gradient.
part AS (
    SELECT
        shape_id,
        CASE family
            WHEN 'convolution' THEN NOT is_output AND number = 2
            WHEN 'input gradient' THEN NOT is_output AND number = 1
            ELSE is_output AND number = 1
        END AS is_weight,
        CASE family
            WHEN 'convolution' THEN is_output AND number = 1
            ELSE NOT is_output AND number = 2
        END AS has_positions,
        true_count,
        element_count,
        position_count
    FROM operand
)
SELECT
    weight.shape_id,
    2 * output.position_count::HUGEINT * coalesce(weight.true_count, weight.element_count) AS flops,
    2 * output.position_count::HUGEINT * weight.element_count AS padded_flops,
    weight.true_count IS NULL AS is_padded
FROM part AS weight
JOIN part AS output USING (shape_id)
WHERE weight.is_weight AND output.has_positions AND output.position_count IS NOT NULL
