-- One row is a description of kernels and the category of what they compute or move. No other file says it.
--
-- kind        ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- name_id     TEXT_ID  name of the kernels
-- type_id     TEXT_ID  their type; NULL when it is not known
-- op_name_id  TEXT_ID  the op that launched them; NULL when linked to no op
-- category    VARCHAR  the category, as below; NULL where neither the name, nor the type, nor the op says it
-- is_whole    BOOLEAN  whether they read and write all of the tensors that are recorded as theirs, as far as the type says so
--
-- What kernels.role has is a copy or conversion. The name of a GPU kernel decides where it says what a special kernel does
-- (trace.kernel_family); of one that computes element by element, adds up or multiplies matrices, the op says for what.
-- Elsewhere the type decides, then the name, then the op. The categories:
--   matrix product       products of matrices, also fused with what comes after them, or with a collective
--   attention            attention, and what only it needs: rotary embedding, the cache of keys and values, the choice of keys
--   convolution          convolutions and their gradients, also those that are computed by a matrix product
--   normalisation        norms of layers, groups, batches and roots of mean squares, also those that add the residual
--   activation           functions such as SiLU, GELU and softmax, and products with a gate
--   experts              routing, dispatch and combination of rows for experts, and the grouped products of their matrices
--   optimizer            steps of optimizers in kernels of their own; kernels.by_category adds what runs inside its range
--   index and sort       embedding, gather and scatter, sort, top-k, sampling
--   element by element   sums, products and comparisons of tensors, dropout and random numbers
--   reduction            sums, means, losses, pooling
--   copy and conversion  copies, fills, casts, quantisation, changes of the format or order
--   communication        collectives, transfers between ranks, and the helpers that schedule them
WITH used_name AS (
    SELECT DISTINCT kind, name_id, type_id, op_name_id
    FROM module.kernel
),
of_name AS (
    SELECT
        name_id,
        CASE category
            WHEN 'collective' THEN 'communication'
            WHEN 'conversion' THEN 'copy and conversion'
            WHEN 'copy' THEN 'copy and conversion'
            WHEN 'index' THEN 'index and sort'
            WHEN 'sort' THEN 'index and sort'
            WHEN 'random numbers' THEN 'element by element'
            ELSE category
        END AS category
    FROM trace.kernel_family
),
-- A slice and the loss of one class read a part; so do attention with a cache, what gathers, and what chooses experts.
named_kernel AS (
    SELECT
        used_name.*,
        of_name.name_id IS NOT NULL AS is_of_gpu,
        of_name.category AS of_name,
        role.name_id IS NOT NULL AS is_move,
        word_of_operator(type.text) AS word,
        category_of_word(word) AS of_type,
        category_of_word(word_of_operator(op.text)) AS of_op,
        category_of_word(word_of_operator(name.text)) AS of_word
    FROM used_name
    LEFT JOIN of_name ON of_name.name_id = used_name.name_id
    LEFT JOIN kernels.role
        ON role.name_id = used_name.name_id AND role.type_id IS NOT DISTINCT FROM used_name.type_id
    LEFT JOIN trace.string AS type ON type.text_id = used_name.type_id
    LEFT JOIN trace.string AS op ON op.text_id = used_name.op_name_id
    LEFT JOIN trace.string AS name ON name.text_id = used_name.name_id
)
SELECT
    kind,
    name_id,
    type_id,
    op_name_id,
    CASE
        WHEN kind IN ('communication', 'schedule') THEN 'communication'
        WHEN kind = 'copy' OR is_move THEN 'copy and conversion'
        WHEN NOT is_of_gpu THEN coalesce(of_type, of_word, of_op)
        WHEN of_name IS NULL OR of_name IN ('element by element', 'reduction') THEN coalesce(of_op, of_name)
        WHEN of_name = 'matrix product' AND of_op IN ('convolution', 'attention', 'experts') THEN of_op
        ELSE of_name
    END AS category,
    coalesce(
        CASE
            WHEN is_of_gpu THEN false
            -- Knows flashattentionscore: the tensors of an operator are known by its name.
            WHEN of_type = 'attention' THEN regexp_matches(word, 'rotarypos|^flashattentionscore(grad)?$')
            WHEN of_type IN ('index and sort', 'experts') THEN false
            WHEN of_type IS NOT NULL THEN NOT regexp_matches(word, 'slice|split|asstrided|nllloss|^expand')
        END,
        false
    ) AS is_whole
FROM named_kernel
