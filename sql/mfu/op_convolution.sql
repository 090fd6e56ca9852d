-- One row is a description of an op that is a convolution, forward or backward, and its FLOPs.
--
-- @guard trace.op_input
--
-- shape_id  BIGINT   a description of mfu.op_shape
-- flops     HUGEINT  2 * (positions, over the batch) * (elements of the weight), for each gradient that is computed
--
-- Each element of the weight meets each position of the output of an image once; in a
-- transposed convolution, each position of the input. Groups need no care: the weight has the channels of one group.
WITH operand AS (
    SELECT
        shape_id,
        form,
        dims_of(shapes[first_at]) AS input,
        dims_of(shapes[first_at + 1]) AS weight,
        dims_of(shapes[first_at - 1]) AS output_gradient,
        CASE
            WHEN turned_at IS NULL OR input_values[turned_at] = 'False' THEN false
            WHEN input_values[turned_at] = 'True' THEN true
        END AS is_transposed,
        numbers_of(input_values[values_at]) AS strides,
        numbers_of(input_values[values_at + 1]) AS paddings,
        numbers_of(input_values[values_at + 2]) AS dilations,
        TRY_CAST(input_values[wanted_at] AS BOOLEAN[]) AS wanted
    FROM mfu.op_shape
    WHERE form IN ('convolution', 'convolution gradient')
),
-- A list with one number is meant for all dims. The weight has the channels of a group: those of the output come first, or in a
-- transposed convolution those of the input.
sized_operand AS (
    SELECT
        *,
        len(weight) - 2 AS dim_count,
        len(input) = len(weight) AS has_batch,
        list_transform(range(1, len(weight) - 1), lambda number: input[number + len(input) - len(weight) + 2]) AS input_sizes,
        list_transform(range(1, len(weight) - 1), lambda number: weight[number + 2]) AS window_sizes
    FROM operand
    WHERE len(input) BETWEEN len(weight) - 1 AND len(weight)
      AND len(weight) BETWEEN 3 AND 5
      AND CASE
            WHEN is_transposed THEN input[1 - len(weight)] = weight[1]
            ELSE input[1 - len(weight)] % weight[2] = 0
        END
),
placed_op AS (
    SELECT
        *,
        CASE
            WHEN is_transposed THEN input_sizes
            WHEN form = 'convolution gradient' THEN
                if(len(output_gradient) = len(input), output_gradient[-dim_count:], NULL)
            ELSE list_transform(
                range(1, dim_count + 1),
                lambda number: (
                    input_sizes[number]
                    + 2 * paddings[least(number, len(paddings))]
                    - dilations[least(number, len(dilations))] * (window_sizes[number] - 1)
                    - 1
                ) // nullif(strides[least(number, len(strides))], 0) + 1
            )
        END AS positions
    FROM sized_operand
    WHERE form = 'convolution gradient' OR is_transposed OR (
        list_min(strides) >= 1 AND list_min(dilations) >= 1
        AND len(strides) IN (1, dim_count) AND len(paddings) IN (1, dim_count) AND len(dilations) IN (1, dim_count)
    )
)
SELECT
    shape_id,
    2 * count_of(positions)::HUGEINT * if(has_batch, input[1], 1) * count_of(weight)
        * if(form = 'convolution', 1, wanted[1]::BIGINT + wanted[2]::BIGINT) AS flops
FROM placed_op
WHERE is_transposed IS NOT NULL AND list_min(positions) > 0
