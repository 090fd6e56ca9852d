-- One row is a description of a grouped matmul, whose shapes hold the rows of a buffer. How many of these rows the groups fill
-- is not recorded: the buffer of a mixture of experts can be hundreds of times as long.
--
-- shape_id         BIGINT   a description of mfu.shape
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
    FROM mfu.shape
    JOIN mfu.tensor AS a ON a.shape_id = shape.shape_id AND NOT a.is_output AND a.position = 1
    JOIN mfu.tensor AS b ON b.shape_id = shape.shape_id AND NOT b.is_output AND b.position = 2
    JOIN mfu.tensor AS o ON o.shape_id = shape.shape_id AND o.is_output AND o.position = 1
    JOIN weight ON weight.shape_id = shape.shape_id AND weight.dims = b.dims
    WHERE shape.family = 'grouped matmul' AND NOT a.is_padded AND NOT o.is_padded AND b.matrix IS NOT NULL
),
turned AS (
    SELECT operand.* REPLACE (if(turns_b, b_columns, b_rows) AS b_rows, if(turns_b, b_rows, b_columns) AS b_columns), turns_b
    FROM operand
    CROSS JOIN (VALUES (false), (true)) AS turn_b (turns_b)
),
fitting AS (
    -- Each row of a [m, k] meets one weight of b [groups, k, n]. What is fused after it may join or halve the output's columns.
    SELECT
        shape_id,
        turns_b,
        2 * a_count::HUGEINT * b_columns AS flops_at_most,
        2 * a[-1]::HUGEINT * b_columns AS flops_per_row,
        weight_count AS group_count,
        has_equal_types
    FROM turned
    WHERE len(o) = len(a) AND agrees(b_rows, b_padded, a[-1], false)
      AND (b_columns % o[-1] = 0 OR agrees(b_columns, b_padded, o[-1], false))
    UNION ALL
    -- The gradient of the weights: rows of a [k, m] and b [k, n] in groups make an output [groups, m, n].
    SELECT shape_id, turns_b, 2 * a_count::HUGEINT * b_columns, 2 * o[-2]::HUGEINT * b_columns, o[-3], has_equal_types
    FROM turned
    WHERE len(o) = 3 AND len(a) = 2 AND NOT is_stacked AND b_columns = o[-1] AND a_count = b_rows * o[-2]
)
SELECT shape_id, flops_at_most, flops_per_row, group_count, has_equal_types
FROM fitting
QUALIFY row_number() OVER (PARTITION BY shape_id ORDER BY turns_b) = 1
