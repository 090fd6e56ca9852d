-- One row is an op with its input shapes and one type of its kernels, directly in a module, on a side of a comparison. It is
-- what comparisons of ops and of kernels are made of.
--
-- @columns op_number to place as in runs.compared_op_rank
-- first_start_ns  BIGINT  start of the first of the ops, Unix ns; NULL when linked to no op
-- kernel_count    BIGINT  kernels in the units that are compared, and in none
-- duration_ns     BIGINT  their time, ns
WITH op AS (
    SELECT
        op_number,
        run,
        side,
        match_id,
        is_backward,
        location,
        op_name,
        kind,
        type,
        input_shapes,
        place,
        min(first_start_ns) AS first_start_ns
    FROM runs.compared_op_rank
    GROUP BY ALL
),
total AS (
    SELECT op_number, sum(kernel_count)::BIGINT AS kernel_count, sum(duration_ns)::BIGINT AS duration_ns
    FROM runs.compared_op_sample
    GROUP BY op_number
)
-- An op of which no unit is compared is left out.
SELECT op.*, total.kernel_count, total.duration_ns
FROM op
JOIN total USING (op_number)
