-- One row is a description of a matmul whose shapes something else changes: a transposition, or communication.
--
-- @guard mfu.fused_matmul_shape
--
-- shape_id   BIGINT   a description of mfu.shape
-- flops      HUGEINT  2 * (rows that are multiplied) * n * k
-- is_padded  BOOLEAN  whether flops is on padded dims, since the true ones are not known
WITH operand AS (
    SELECT
        shape.shape_id,
        shape.family,
        a.matrix AS a,
        a.element_count AS a_count,
        b.matrix[-2] AS b_rows,
        b.matrix[-1] * if(b.type = 'INT32' AND a.type <> 'INT32', 8, 1) AS b_columns,
        b.is_padded AS b_padded,
        if(len(b.matrix) > 2, b.matrix[-3], 1) AS b_batch,
        o.matrix AS o,
        o.element_count AS o_count
    FROM mfu.fused_matmul_shape AS shape
    JOIN mfu.tensor AS a ON a.shape_id = shape.shape_id AND NOT a.is_output AND a.position = 1
    JOIN mfu.tensor AS b ON b.shape_id = shape.shape_id AND NOT b.is_output AND b.position = 2
    JOIN mfu.tensor AS o ON o.shape_id = shape.shape_id AND o.is_output AND o.position = 1
    WHERE NOT a.is_padded AND NOT o.is_padded AND b.matrix IS NOT NULL
),
turned_operand AS (
    SELECT operand.* REPLACE (if(turns_b, b_columns, b_rows) AS b_rows, if(turns_b, b_rows, b_columns) AS b_columns), turns_b
    FROM operand
    CROSS JOIN (VALUES (false), (true)) AS turn_b (turns_b)
),
fitting_reading AS (
    -- a [m, batch, k] or [batch, m, k], b [batch, k, n]: the last dim of a is k; a and the output have batch * m rows.
    SELECT shape_id, turns_b, 2 * a_count::HUGEINT * b_columns AS flops, b_padded
    FROM turned_operand
    WHERE family = 'transposed matmul'
      AND agrees(b_rows, b_padded, a[-1], false)
      AND o_count::HUGEINT * a[-1] = a_count::HUGEINT * b_columns
      AND list_contains(a, b_batch)
    UNION ALL
    -- Rows of other ranks join before the matmul, so they are in the output.
    SELECT shape_id, turns_b, 2 * o_count::HUGEINT * b_rows, b_padded
    FROM turned_operand
    WHERE family = 'gathering matmul' AND agrees(b_columns, b_padded, o[-1], false) AND list_contains(a, b_rows)
    UNION ALL
    -- The output is summed over ranks or scattered after the matmul, so the rows are in the input.
    SELECT shape_id, turns_b, 2 * a_count::HUGEINT * b_columns, b_padded
    FROM turned_operand
    WHERE family = 'reducing matmul' AND agrees(b_rows, b_padded, a[-1], false) AND list_contains(o, b_columns)
)
SELECT shape_id, flops, b_padded AS is_padded
FROM fitting_reading
QUALIFY row_number() OVER (PARTITION BY shape_id ORDER BY turns_b) = 1
