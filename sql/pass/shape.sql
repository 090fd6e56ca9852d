-- One row is a kernel of a pass that tells what the pass holds, with its shapes: attention, a choice or check of tokens, or a
-- product of two matrices.
--
-- @guard pass.kernel
--
-- kernel_id     BIGINT   a kernel of pass.kernel
-- pass_id       BIGINT   its pass
-- part          VARCHAR  as in trace.serving_kernel; 'product' for a product of matrices
-- start_ns      BIGINT   start, Unix ns
-- is_of_op      BOOLEAN  whether the shapes are those of the op that launched it, since kernels have none of their own
-- shapes_id     TEXT_ID  input shapes; NULL when not recorded
-- row_count     BIGINT   of a product, rows of the first matrix; of a choice of tokens, rows of the scores; NULL when not known
-- column_count  BIGINT   of a product, columns of the result; of a choice of tokens, columns of the scores; NULL when not known
WITH of_op AS (
    SELECT kernel_op.kernel_id, op_input.input_shapes_id
    FROM module.kernel_op
    JOIN trace.op_input ON op_input.op_id = kernel_op.host_op_id
    WHERE kernel_op.link <> 'replayed'
),
telling AS (
    SELECT
        pass_kernel.kernel_id,
        pass_kernel.pass_id,
        coalesce(serving_kernel.part::VARCHAR, 'product') AS part,
        kernel.start_ns,
        coalesce(kernel.input_shapes_id, of_op.input_shapes_id) AS shapes_id,
        kernel.input_shapes_id IS NULL AND of_op.input_shapes_id IS NOT NULL AS is_of_op,
        kernel.output_shapes_id
    FROM pass.kernel AS pass_kernel
    JOIN trace.kernel USING (kernel_id)
    LEFT JOIN trace.serving_kernel USING (kernel_id)
    LEFT JOIN of_op USING (kernel_id)
    WHERE serving_kernel.part IS NOT NULL OR kernel.engine IN ('matrix', 'matrix and vector')
),
described AS (
    SELECT DISTINCT shapes_id, output_shapes_id
    FROM telling
    WHERE shapes_id IS NOT NULL
),
read AS (
    SELECT
        described.shapes_id,
        described.output_shapes_id,
        list_transform(string_split(tensor_list(shapes.text), ';'), lambda shape: dims_of(shape)) AS inputs,
        -- Scores are a row for each token that may be chosen, with a column for each word.
        list_filter(inputs, lambda dims: len(dims) = 2 AND dims[2] >= 1024)[1] AS scores,
        dims_of(string_split(tensor_list(outputs.text), ';')[1]) AS output
    FROM described
    JOIN trace.string AS shapes ON shapes.text_id = described.shapes_id
    LEFT JOIN trace.string AS outputs ON outputs.text_id = described.output_shapes_id
),
counted AS (
    SELECT
        shapes_id,
        output_shapes_id,
        count_of(inputs[1][:-2]) AS row_count,
        scores[1] AS score_count,
        scores[2] AS word_count,
        CASE
            WHEN len(inputs[1]) < 2 OR len(inputs[2]) < 2 OR inputs[1] = inputs[2] THEN NULL
            -- The second matrix can be in a format of blocks: then the result has the columns.
            WHEN len(output) >= 2 AND count_of(output[:-2]) = count_of(inputs[1][:-2]) THEN output[-1]
            WHEN len(inputs[2]) = 2 AND inputs[2][1] = inputs[1][-1] THEN inputs[2][2]
            WHEN len(inputs[2]) = 2 AND inputs[2][2] = inputs[1][-1] THEN inputs[2][1]
        END AS column_count
    FROM read
)
SELECT
    telling.kernel_id,
    telling.pass_id,
    telling.part,
    telling.start_ns,
    telling.is_of_op,
    telling.shapes_id,
    CASE
        WHEN telling.part = 'product' AND counted.column_count IS NOT NULL THEN counted.row_count
        WHEN telling.part IN ('sampling', 'verification') THEN counted.score_count
    END AS row_count,
    CASE
        WHEN telling.part = 'product' THEN counted.column_count
        WHEN telling.part IN ('sampling', 'verification') THEN counted.word_count
    END AS column_count
FROM telling
LEFT JOIN counted
    ON counted.shapes_id = telling.shapes_id AND counted.output_shapes_id IS NOT DISTINCT FROM telling.output_shapes_id
