-- One row is a description in mfu.shape of kernels on cores that can multiply matrices, whose type has no formula.
--
-- shape_id    BIGINT   a description of mfu.shape
-- names_cube  BOOLEAN  whether the type's name suggests that it multiplies matrices; NULL when it is not known
WITH type_name AS (
    SELECT
        text_id AS type_id,
        regexp_matches(
            lower(text), 'mat_?mul|gemm|bmm|conv[^e]|conv$|attention|attn|cube|ffn|mlp|lstm|gru|rnn|linear|dense|einsum'
        ) AS names_cube
    FROM trace.string
    WHERE text_id IN (SELECT type_id FROM mfu.shape)
)
SELECT shape.shape_id, type_name.names_cube
FROM mfu.shape
LEFT JOIN type_name USING (type_id)
WHERE shape.family IS NULL
