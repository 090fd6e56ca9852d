-- One row is a description of a kernel that is an attention of inference on an NPU, and a layout in which its shapes can be
-- read: what it costs for each query and key. How many keys there are, its shapes do not say.
--
-- @guard mfu.served_form
--
-- shape_id         BIGINT   a description of mfu.shape
-- layout           VARCHAR  TH, TND (all sequences one after the other), BSH, BNSD or BSND
-- query_count      BIGINT   queries of all sequences, with those that fill up a graph
-- flops_per_pair   HUGEINT  FLOPs of a query with a key: 2 * heads * (Dq + Dv), of latent attention (MLA) with both parts of Dq
-- bytes_per_query  BIGINT   bytes of a query and its result; NULL when not known
-- bytes_per_key    BIGINT   bytes of a key and its value, of the heads that several heads of queries share; NULL when not known
--
-- Queries have heads * Dq elements each, and results heads * Dv, so the number of heads is not needed. Pages of keys are
-- [blocks, tokens, heads * D], [blocks, heads, tokens, D], [blocks, tokens, heads, D] or in blocks of 16 elements; of two
-- dims that may be tokens, a page has the larger one. In a cache of latents, keys and values are the same memory.
WITH type_name AS (
    SELECT shape.shape_id, shape.family, regexp_replace(lower(string.text), '_', '', 'g') AS name
    FROM mfu.shape
    JOIN trace.string ON string.text_id = shape.type_id
    WHERE shape.family IN ('inference attention', 'paged attention')
),
-- Where the operands are among the inputs: queries, keys, values, and parts of queries and keys with positions.
place AS (
    SELECT
        shape_id,
        CASE
            WHEN contains(name, 'multilatentattention') THEN {'k': 3, 'v': 3, 'q_rope': 2, 'k_rope': 4, 'table': 5}
            WHEN contains(name, 'ringmla') THEN {'k': 3, 'v': 5, 'q_rope': 2, 'k_rope': 4, 'table': 0}
            WHEN family = 'inference attention' THEN {'k': 2, 'v': 3, 'q_rope': 25, 'k_rope': 26, 'table': 4}
            ELSE {'k': 2, 'v': 3, 'q_rope': 0, 'k_rope': 0, 'table': 4}
        END AS numbers
    FROM type_name
),
input AS (
    FROM mfu.tensor
    WHERE NOT is_output
),
-- A table of blocks is a matrix of whole numbers.
paged AS (
    SELECT DISTINCT place.shape_id
    FROM place
    JOIN input ON input.shape_id = place.shape_id AND input.position >= place.numbers.table
    WHERE place.numbers.table > 0 AND input.type = 'INT32' AND len(input.dims) = 2
),
operand AS (
    SELECT
        place.shape_id,
        paged.shape_id IS NOT NULL AS is_paged,
        q.dims AS q,
        k.dims AS k,
        v.dims AS v,
        k_rope.dims AS k_rope,
        q.element_count + coalesce(q_rope.element_count, 0) AS q_count,
        q.element_count AS plain_count,
        result.element_count AS result_count,
        nullif(bytes_of_element(q.type), 1) AS query_bytes,
        bytes_of_element(k.type) AS key_bytes,
        bytes_of_element(v.type) AS value_bytes,
        place.numbers.k = place.numbers.v
            OR paged.shape_id IS NOT NULL AND k_rope.dims IS NOT NULL AND k.dims = v.dims AS is_latent
    FROM place
    JOIN input AS q ON q.shape_id = place.shape_id AND q.position = 1
    JOIN input AS k ON k.shape_id = place.shape_id AND k.position = place.numbers.k
    JOIN input AS v ON v.shape_id = place.shape_id AND v.position = place.numbers.v
    JOIN mfu.tensor AS result ON result.shape_id = place.shape_id AND result.is_output AND result.position = 1
    LEFT JOIN input AS q_rope ON q_rope.shape_id = place.shape_id AND q_rope.position = place.numbers.q_rope
    LEFT JOIN input AS k_rope ON k_rope.shape_id = place.shape_id AND k_rope.position = place.numbers.k_rope
    LEFT JOIN paged ON paged.shape_id = place.shape_id
    WHERE len(k.dims) = len(v.dims)
),
layout AS (
    SELECT *
    FROM (
        VALUES ('TH', 2, [1]), ('TND', 3, [1]), ('BSH', 3, [1, 2]), ('BNSD', 4, [1, 3]), ('BSND', 4, [1, 2])
    ) AS layout (layout, dim_count, queries_at)
),
reading AS (
    SELECT
        operand.*,
        layout.layout,
        count_of(list_transform(queries_at, lambda number: q[number])) AS query_count,
        CASE WHEN is_paged THEN width_in_pages(k) ELSE count_of(k) // nullif(count_of(list_select(k, queries_at)), 0) END
            AS key_width,
        CASE WHEN is_paged THEN width_in_pages(v) ELSE count_of(v) // nullif(count_of(list_select(v, queries_at)), 0) END
            AS value_width,
        CASE
            WHEN k_rope IS NULL THEN 0
            WHEN is_paged THEN width_in_pages(k_rope)
            ELSE count_of(k_rope) // nullif(count_of(list_select(k_rope, queries_at)), 0)
        END AS rope_width,
        -- The size of a head, where the layout has one.
        if(layout IN ('TND', 'BNSD', 'BSND'), q[-1], 1) AS head_size
    FROM operand
    JOIN layout ON layout.dim_count = len(operand.q)
    WHERE is_paged OR len(operand.k) = len(operand.q)
)
SELECT
    shape_id,
    layout,
    query_count,
    (2 * (q_count::HUGEINT + result_count) // query_count) AS flops_per_pair,
    TRY_CAST((q_count::HUGEINT + result_count) // query_count * query_bytes AS BIGINT) AS bytes_per_query,
    TRY_CAST((key_width::HUGEINT + rope_width) * key_bytes + if(is_latent, 0, value_width * value_bytes) AS BIGINT)
        AS bytes_per_key
FROM reading
WHERE query_count > 0 AND plain_count // query_count % key_width = 0 AND key_width % head_size = 0
  AND result_count % query_count = 0
