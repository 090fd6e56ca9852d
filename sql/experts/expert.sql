-- One row is an expert of the rank and the rows that it got, by step and module. Only grouped matmuls that have a tensor for
-- each expert say it; where all rows are in one tensor, how many each expert has are values, which no profile holds.
--
-- @guard experts.shape
--
-- step_id       BIGINT   step, as in experts.call; NULL when of no step, and without steps
-- module        VARCHAR  path of the module; NULL outside modules
-- expert        BIGINT   number of the expert on its rank, from 0
-- kernel_count  BIGINT   grouped matmuls
-- row_count     BIGINT   rows of the expert in all of them: a token counts in each matmul that it passes
WITH called_kernel AS (
    SELECT call.step_id, call.module, shape.expert_rows
    FROM experts.call
    JOIN trace.kernel USING (kernel_id)
    JOIN experts.shape
        ON shape.input_shapes_id = call.input_shapes_id AND shape.output_shapes_id IS NOT DISTINCT FROM kernel.output_shapes_id
    WHERE shape.expert_rows IS NOT NULL
),
part AS (
    SELECT step_id, module, unnest(expert_rows) AS row_count, generate_subscripts(expert_rows, 1) - 1 AS expert
    FROM called_kernel
)
SELECT step_id, module, expert, count(*) AS kernel_count, sum(row_count)::BIGINT AS row_count
FROM part
GROUP BY step_id, module, expert
ORDER BY step_id NULLS LAST, module, expert
