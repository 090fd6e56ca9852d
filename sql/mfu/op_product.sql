-- One row is a description of an op that multiplies two matrices, once or in a batch, and its FLOPs.
--
-- @guard trace.op_input
--
-- shape_id    BIGINT   a description of mfu.op_shape
-- flops       HUGEINT  2 * batch * m * n * k; NULL for groups whose rows are not in the shapes
-- most_flops  HUGEINT  the same with all rows that the groups may have
--
-- The matrices are m x k and k x n; in a linear op the second one is n x k, and the first
-- has any dims before k; a vector is a matrix with one column. Groups have a stack of second matrices, or share k, as for the
-- gradient of the weights.
WITH operand AS (
    SELECT shape_id, form, dims_of(shapes[first_at]) AS a, dims_of(shapes[first_at + 1]) AS b
    FROM mfu.op_shape
    WHERE form IN ('product', 'linear', 'grouped product')
),
counted_product AS (
    SELECT
        shape_id,
        CASE
            WHEN form = 'linear' AND len(b) = 2 AND a[-1] = b[2] THEN 2 * count_of(a)::HUGEINT * b[1]
            WHEN form = 'product' AND len(a) = 2 AND len(b) = 1 AND a[2] = b[1] THEN 2 * count_of(a)::HUGEINT
            WHEN form IN ('product', 'grouped product') AND len(a) = 3 AND len(b) = 3 AND a[1] = b[1] AND a[3] = b[2]
                THEN 2 * count_of(a)::HUGEINT * b[3]
            WHEN form = 'product' AND len(a) = 2 AND len(b) = 2 AND a[2] = b[1] THEN 2 * count_of(a)::HUGEINT * b[2]
        END AS flops,
        CASE
            WHEN form = 'grouped product' AND len(a) = 2 AND len(b) = 3 AND a[2] = b[2] THEN 2 * count_of(a)::HUGEINT * b[3]
            WHEN form = 'grouped product' AND len(a) = 3 AND len(b) = 2 AND a[3] = b[1]
                THEN 2 * count_of(b)::HUGEINT * a[2]
            WHEN form = 'grouped product' AND len(a) = 2 AND len(b) = 2 AND a[2] = b[1] THEN 2 * count_of(a)::HUGEINT * b[2]
        END AS group_flops
    FROM operand
)
SELECT shape_id, flops, coalesce(flops, group_flops) AS most_flops
FROM counted_product
WHERE flops IS NOT NULL OR group_flops IS NOT NULL
