-- One row is a description of a grouped matmul. Where its rows are one tensor, that is a buffer: how many of its rows the
-- groups fill is not recorded, and the buffer of a mixture of experts can be hundreds of times as long. Where each group has a
-- tensor of its own, the shapes say it. They do too where a gating of the rank chooses among as many experts as there are
-- groups, so that none of them is on another rank, and the buffer has as many rows as that chooses experts for all tokens.
--
-- @guard mfu.grouped_matmul_shape
--
-- shape_id         BIGINT   a description of mfu.shape
-- flops            HUGEINT  2 * rows * n * k, added up over the groups; NULL where the groups may fill a part of the rows
-- flops_at_most    HUGEINT  2 * (all rows of the buffer) * n * k
-- flops_per_row    HUGEINT  2 * n * k
-- group_count      BIGINT   groups that share the rows
-- has_equal_types  BOOLEAN  whether input and weight have the same data type, so that the cube multiplies in it
WITH weight AS (
    SELECT shape_id, dims, count(*) AS tensor_count
    FROM mfu.tensor
    WHERE NOT is_output
    GROUP BY shape_id, dims
),
operand AS (
    SELECT
        shape.shape_id,
        a.matrix AS a,
        a.element_count AS a_count,
        b.matrix[-2] AS b_rows,
        b.matrix[-1] * if(b.type = 'INT32' AND a.type <> 'INT32', 8, 1) AS b_columns,
        b.is_padded AS b_padded,
        if(len(b.matrix) > 2, b.matrix[-3], weight.tensor_count) AS weight_count,
        len(b.matrix) > 2 AS is_stacked,
        o.matrix AS o,
        coalesce(a.type = b.type, false) AS has_equal_types
    FROM mfu.grouped_matmul_shape AS shape
    JOIN mfu.tensor AS a ON a.shape_id = shape.shape_id AND NOT a.is_output AND a.position = 1
    JOIN mfu.tensor AS b ON b.shape_id = shape.shape_id AND NOT b.is_output AND b.position = 2
    JOIN mfu.tensor AS o ON o.shape_id = shape.shape_id AND o.is_output AND o.position = 1
    JOIN weight ON weight.shape_id = shape.shape_id AND weight.dims = b.dims
    WHERE NOT a.is_padded AND NOT o.is_padded AND b.matrix IS NOT NULL
),
turned_operand AS (
    SELECT operand.* REPLACE (if(turns_b, b_columns, b_rows) AS b_rows, if(turns_b, b_rows, b_columns) AS b_columns), turns_b
    FROM operand
    CROSS JOIN (VALUES (false), (true)) AS turn_b (turns_b)
),
-- Inputs in order: the rows of each group, its weight, then bias, scales and the list of groups, which decide nothing.
listed_shape AS (
    SELECT
        shape.shape_id,
        list_transform(string_split(tensor_list(input.text), ';'), lambda one: dims_or_none_of(one)) AS inputs,
        list_transform(string_split(tensor_list(output.text), ';'), lambda one: dims_or_none_of(one)) AS outputs
    FROM mfu.grouped_matmul_shape AS shape
    JOIN trace.string AS input ON input.text_id = shape.input_shapes_id
    JOIN trace.string AS output ON output.text_id = shape.output_shapes_id
),
-- Tensors of as many columns as the first come first: the rows of the groups, and weights that are turned.
fronted_shape AS (
    SELECT
        *,
        coalesce(
            list_position(
                list_transform(inputs, lambda one: coalesce(len(one) = 2 AND one[2] = inputs[1][2], false)),
                false
            ) - 1,
            len(inputs)
        ) AS front_count
    FROM listed_shape
),
candidate AS (
    SELECT DISTINCT shape_id, inputs, outputs, unnest([front_count, front_count // 2, len(outputs)]) AS group_count
    FROM fronted_shape
),
pair AS (
    SELECT
        candidate.shape_id,
        candidate.group_count,
        candidate.outputs,
        turn_b.turns_b,
        candidate.inputs[weight.position - group_count] AS a,
        if(len(outputs) >= group_count, outputs[weight.position - group_count], NULL) AS o,
        weight.matrix[if(turns_b, -1, -2)] AS b_rows,
        weight.matrix[if(turns_b, -2, -1)] * if(weight.type = 'INT32' AND first_input.type <> 'INT32', 8, 1) AS b_columns,
        weight.is_padded AS b_padded,
        coalesce(first_input.type = weight.type, false) AS has_equal_types
    FROM candidate
    JOIN mfu.tensor AS weight
        ON weight.shape_id = candidate.shape_id
        AND NOT weight.is_output
        AND weight.position BETWEEN group_count + 1 AND 2 * group_count
    LEFT JOIN mfu.tensor AS first_input
        ON first_input.shape_id = candidate.shape_id AND NOT first_input.is_output AND first_input.position = 1
    CROSS JOIN (VALUES (false), (true)) AS turn_b (turns_b)
    WHERE candidate.group_count >= 2
),
separate AS (
    SELECT
        shape_id,
        group_count,
        turns_b,
        sum(2 * count_of(a)::HUGEINT * b_columns) AS flops,
        max(2 * a[-1]::HUGEINT * b_columns) AS flops_per_row,
        bool_and(has_equal_types) AS has_equal_types
    FROM pair
    GROUP BY shape_id, group_count, turns_b
    HAVING count(*) = group_count
        AND bool_and(
            coalesce(
                len(a) >= 2 AND count_of(a) IS NOT NULL AND agrees(b_rows, b_padded, a[-1], false)
                AND (b_columns % coalesce(o, outputs[1])[-1] = 0
                    OR agrees(b_columns, b_padded, coalesce(o, outputs[1])[-1], false))
                AND (o IS NULL OR o[-2] = a[-2]),
                false
            )
        )
        AND (bool_and(o IS NOT NULL) OR sum(a[-2]) = min(outputs[1][-2]))
),
-- Tokens choose experts: [tokens, experts] become [tokens, chosen].
gating_shape AS (
    SELECT DISTINCT kernel.input_shapes_id, kernel.output_shapes_id
    FROM trace.kernel
    JOIN trace.string AS type ON type.text_id = kernel.type_id
    WHERE kernel.kind = 'compute' AND regexp_matches(type.text, '(?i)^moe_?gating_?top_?k')
),
gating AS (
    SELECT DISTINCT
        dims_of(split_part(tensor_list(input.text), ';', 1))[-1] AS expert_count,
        count_of(dims_of(split_part(tensor_list(output.text), ';', 1))) AS row_count
    FROM gating_shape
    JOIN trace.string AS input ON input.text_id = gating_shape.input_shapes_id
    JOIN trace.string AS output ON output.text_id = gating_shape.output_shapes_id
),
fitting_reading AS (
    -- Each row of a [m, k] meets one weight of b [groups, k, n]. What is fused after it may join or halve the output's columns.
    SELECT
        shape_id,
        turns_b,
        2 * a_count::HUGEINT * b_columns AS flops_at_most,
        2 * a[-1]::HUGEINT * b_columns AS flops_per_row,
        weight_count AS group_count,
        has_equal_types,
        len(a) = 2 AND (weight_count, a[1]) IN (SELECT (expert_count, row_count) FROM gating) AS is_filled
    FROM turned_operand
    WHERE len(o) = len(a) AND agrees(b_rows, b_padded, a[-1], false)
      AND (b_columns % o[-1] = 0 OR agrees(b_columns, b_padded, o[-1], false))
    UNION ALL
    -- The gradient of the weights: rows of a [k, m] and b [k, n] in groups make an output [groups, m, n].
    SELECT shape_id, turns_b, 2 * a_count::HUGEINT * b_columns, 2 * o[-2]::HUGEINT * b_columns, o[-3], has_equal_types, false
    FROM turned_operand
    WHERE len(o) = 3 AND len(a) = 2 AND NOT is_stacked AND b_columns = o[-1] AND a_count = b_rows * o[-2]
)
SELECT
    shape_id,
    if(is_filled, flops_at_most, NULL)::HUGEINT AS flops,
    flops_at_most,
    flops_per_row,
    group_count,
    has_equal_types
FROM fitting_reading
ANTI JOIN separate USING (shape_id)
QUALIFY row_number() OVER (PARTITION BY shape_id ORDER BY turns_b) = 1
UNION ALL
SELECT shape_id, flops::HUGEINT, flops::HUGEINT, flops_per_row, group_count, has_equal_types
FROM separate
QUALIFY row_number() OVER (PARTITION BY shape_id ORDER BY group_count DESC, turns_b) = 1
