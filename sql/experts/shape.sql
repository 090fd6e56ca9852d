-- One row is a description of grouped matmuls by their shapes: how many rows the experts share.
--
-- @guard trace.grouped_matmul
--
-- input_shapes_id   TEXT_ID   input shapes, as in trace.kernel, or of the op where kernels have none
-- output_shapes_id  TEXT_ID   output shapes, as in trace.kernel; NULL when not recorded
-- row_count         BIGINT    rows of all experts; NULL when the shapes do not say it
-- expert_count      BIGINT    experts; NULL when the shapes do not say it
-- expert_rows       BIGINT[]  rows of each expert, where each has a tensor of its own; NULL else: how many rows of a tensor
--                             each expert has are values, which no profile holds
WITH described_kernel AS (
    SELECT DISTINCT kernel.input_shapes_id, kernel.output_shapes_id
    FROM trace.grouped_matmul
    JOIN trace.kernel USING (kernel_id)
    WHERE kernel.input_shapes_id IS NOT NULL
    UNION
    SELECT DISTINCT op.input_shapes_id, NULL::BIGINT
    FROM trace.grouped_matmul
    JOIN module.kernel_op USING (kernel_id)
    JOIN trace.op USING (op_id)
    JOIN mfu.op_form ON op_form.name_id = op.name_id AND op_form.form = 'grouped product' AND op_form.first_at = 1
    WHERE op.input_shapes_id IS NOT NULL
),
listed_tensors AS (
    SELECT
        described_kernel.*,
        list_transform(string_split(tensor_list(input.text), ';'), lambda one: dims_or_none_of(one)) AS tensors,
        list_transform(string_split(tensor_list(output.text), ';'), lambda one: dims_or_none_of(one)) AS results
    FROM described_kernel
    JOIN trace.string AS input ON input.text_id = described_kernel.input_shapes_id
    LEFT JOIN trace.string AS output ON output.text_id = described_kernel.output_shapes_id
),
-- Tensors of two dims from the first on, with as many columns as the first: the rows of each expert, where it has a tensor.
fronted_kernel AS (
    SELECT
        *,
        coalesce(
            list_position(
                list_transform(tensors, lambda one: coalesce(len(one) = 2 AND one[2] = tensors[1][2], false)),
                false
            ) - 1,
            len(tensors)
        ) AS front_count
    FROM listed_tensors
),
-- Behind them come as many weights of one shape. A weight that is turned has as many columns too.
candidate AS (
    SELECT *, unnest([front_count, front_count // 2]) AS group_count
    FROM fronted_kernel
),
separate AS (
    SELECT input_shapes_id, output_shapes_id, max(group_count) AS group_count
    FROM candidate
    WHERE group_count >= 2
      AND len(tensors) >= 2 * group_count
      AND len(list_distinct(tensors[group_count + 1:2 * group_count])) = 1
      AND len(tensors[group_count + 1]) >= 2
      AND len(list_filter(tensors[group_count + 1:2 * group_count], lambda one: one IS NULL)) = 0
    GROUP BY input_shapes_id, output_shapes_id
),
weight AS (
    SELECT
        fronted_kernel.*,
        separate.group_count,
        -- Weights of one shape behind the rows: one of three dims or more, or one for each group.
        if(len(tensors[2]) >= 3, tensors[2][1], len(list_filter(tensors, lambda one: one = tensors[2]))) AS weight_count,
        -- The gradient of the weights: both inputs have the rows, and the result is a matrix for each group.
        len(tensors[2]) = 2 AND coalesce(len(results[1]) = 3, fronted_kernel.output_shapes_id IS NULL) AS is_gradient
    FROM fronted_kernel
    LEFT JOIN separate
        ON separate.input_shapes_id = fronted_kernel.input_shapes_id
        AND separate.output_shapes_id IS NOT DISTINCT FROM fronted_kernel.output_shapes_id
)
SELECT
    input_shapes_id,
    output_shapes_id,
    CASE
        WHEN group_count IS NOT NULL THEN list_sum(list_transform(tensors[1:group_count], lambda one: one[1]))
        WHEN is_gradient THEN tensors[2][1]
        WHEN len(tensors[1]) = 2 THEN tensors[1][1]
    END::BIGINT AS row_count,
    CASE
        WHEN group_count IS NOT NULL THEN group_count
        WHEN is_gradient THEN results[1][1]
        WHEN len(tensors[1]) = 2 THEN weight_count
    END::BIGINT AS expert_count,
    if(group_count IS NULL, NULL, list_transform(tensors[1:group_count], lambda one: one[1])) AS expert_rows
FROM weight
