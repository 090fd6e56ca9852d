-- One row is a description of a plain, batched or quantised matmul, and the FLOPs by its shapes.
--
-- shape_id      BIGINT   a description of mfu.shape
-- flops         HUGEINT  2 * batch * m * n * k
-- padded_flops  HUGEINT  the same on the dims as recorded, padding included
-- is_padded     BOOLEAN  whether flops is on padded dims, since the true ones are not known
--
-- Either input can be transposed, and leading dims can be folded into m on one side only: the first reading in which m, n and
-- k agree is taken. Where two readings fit, they give the same value. Of a true and a padded length the smaller one is true.
WITH operand AS (
    SELECT
        shape.shape_id,
        a.matrix[-2] AS a_rows,
        a.matrix[-1] AS a_columns,
        count_of(a.matrix) AS a_count,
        a.is_padded AS a_padded,
        b.matrix[-2] AS b_rows,
        b.matrix[-1] AS b_columns,
        count_of(b.matrix) AS b_count,
        b.is_padded AS b_padded,
        o.matrix[-2] AS o_rows,
        o.matrix[-1] AS o_columns,
        count_of(o.matrix) AS o_count,
        o.is_padded AS o_padded,
        -- An INT32 holds eight weights of four bits.
        if(b.type = 'INT32' AND a.type <> 'INT32', 8, 1) AS weights_per_element
    FROM mfu.shape
    JOIN mfu.tensor AS a ON a.shape_id = shape.shape_id AND NOT a.is_output AND a.position = 1
    JOIN mfu.tensor AS b ON b.shape_id = shape.shape_id AND NOT b.is_output AND b.position = 2
    JOIN mfu.tensor AS o ON o.shape_id = shape.shape_id AND o.is_output AND o.position = 1
    WHERE shape.family = 'matmul'
),
orientation AS (
    SELECT *
    FROM (VALUES (false), (true)) AS fold_a (folds_a)
    CROSS JOIN (VALUES (false), (true)) AS fold_o (folds_o)
    CROSS JOIN (VALUES (false), (true)) AS turn_a (turns_a)
    CROSS JOIN (VALUES (false), (true)) AS turn_b (turns_b)
),
folded AS (
    SELECT
        operand.* REPLACE (
            if(folds_a, a_count // a_columns, a_rows) AS a_rows,
            if(folds_o, o_count // o_columns, o_rows) AS o_rows
        ),
        orientation.*
    FROM operand
    CROSS JOIN orientation
),
reading_of_shape AS (
    SELECT
        *,
        a_count // (a_rows * a_columns) AS a_batch,
        b_count // (b_rows * b_columns) AS b_batch,
        o_count // (o_rows * o_columns) AS o_batch,
        if(turns_a, a_columns, a_rows) AS a_m,
        if(turns_a, a_rows, a_columns) AS a_k,
        if(turns_b, b_columns, b_rows) AS b_k,
        if(turns_b, b_rows, b_columns) AS b_n,
        o_rows AS o_m,
        o_columns AS o_n
    FROM folded
),
fitting_reading AS (
    SELECT *
    FROM reading_of_shape
    WHERE agrees(a_m, a_padded, o_m, o_padded)
      AND CASE
            WHEN weights_per_element > 1 THEN a_k::HUGEINT * o_n = weights_per_element::HUGEINT * b_rows * b_columns
            ELSE agrees(a_k, a_padded, b_k, b_padded) AND agrees(b_n, b_padded, o_n, o_padded)
        END
      AND o_batch % a_batch = 0
      AND o_batch % b_batch = 0
      AND o_batch <= a_batch::HUGEINT * b_batch
    QUALIFY row_number() OVER (PARTITION BY shape_id ORDER BY folds_a, folds_o, turns_a, turns_b) = 1
),
length AS (
    SELECT
        *,
        least(a_m, o_m)::HUGEINT AS m,
        least(o_n, if(weights_per_element > 1, o_n, b_n))::HUGEINT AS n,
        least(a_k, if(weights_per_element > 1, a_k, b_k))::HUGEINT AS k,
        (a_padded AND o_padded) OR (b_padded AND o_padded) OR (a_padded AND b_padded) AS is_padded
    FROM fitting_reading
)
SELECT
    shape_id,
    2 * o_batch * m * n * k AS flops,
    2 * o_batch * greatest(a_m, o_m, m) * greatest(b_n, o_n, n)
        * greatest(a_k, if(weights_per_element > 1, a_k, b_k), k) AS padded_flops,
    is_padded
FROM length
