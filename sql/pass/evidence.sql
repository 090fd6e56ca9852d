-- One row is a pass and what its kernels tell of it.
--
-- @guard pass.kernel
--
-- pass_id           BIGINT   a pass of pass.kernel
-- is_draft          BOOLEAN  whether it is one of a draft model; NULL where its layers do not tell
-- has_prefill       BOOLEAN  whether it has attention of prompts
-- has_decode        BOOLEAN  whether it has attention of requests that generate one token each
-- has_attention     BOOLEAN  whether it has attention that serves both
-- query_count       BIGINT   tokens: queries of attention, else rows of most products; NULL when not known
-- sequence_count    BIGINT   sequences of attention; NULL when not known
-- has_one_each      BOOLEAN  whether attention has calls with one query for each sequence
-- has_several       BOOLEAN  whether attention has calls with more queries than sequences
-- has_two_calls     BOOLEAN  whether attention has calls for other requests than other calls, as in prefill and in decode
-- decode_count      BIGINT   where attention has two kinds of calls, sequences of those with the fewest queries for each; else
--                            NULL
-- is_without_cache  BOOLEAN  whether all attention of several queries reads no cache
-- has_choice        BOOLEAN  whether it chooses tokens, or has a product at its end that scores them
-- chosen_count      BIGINT   requests for which it chooses a token: rows of scores but those of drafted tokens; NULL when
--                           not known
-- verified_count    BIGINT   drafted tokens that it verifies; NULL where there are none, and when not known
-- carried_count     BIGINT   as in pass.carried; NULL when the host does not show it
WITH called AS (
    SELECT shape.pass_id, attention_shape.*
    FROM pass.shape
    JOIN pass.attention_shape
        ON attention_shape.shapes_id = shape.shapes_id AND attention_shape.is_of_op = shape.is_of_op
    WHERE shape.part IN ('prefill attention', 'decode attention', 'attention')
),
-- Requests in prefill and in decode may have calls of their own in each layer.
distinct_call AS (
    SELECT pass_id, query_count, sequence_count, is_without_cache
    FROM called
    GROUP BY ALL
),
of_attention AS (
    SELECT
        pass_id,
        if(count(query_count) = count(*), sum(query_count), NULL)::BIGINT AS query_count,
        if(count(sequence_count) = count(*), sum(sequence_count), NULL)::BIGINT AS sequence_count,
        coalesce(bool_or(query_count = sequence_count), false) AS has_one_each,
        coalesce(bool_or(query_count > sequence_count), false) AS has_several,
        count(*) FILTER (query_count IS NOT NULL AND sequence_count IS NOT NULL) > 1 AS has_two_calls,
        if(
            count(*) FILTER (query_count IS NOT NULL AND sequence_count IS NOT NULL) > 1,
            arg_min(sequence_count, query_count / sequence_count),
            NULL
        ) AS decode_count,
        coalesce(bool_and(is_without_cache) FILTER (query_count > sequence_count), false) AS is_without_cache
    FROM distinct_call
    GROUP BY pass_id
),
product AS (
    SELECT pass_id, row_count, column_count, count(*) AS product_count
    FROM pass.shape
    WHERE part = 'product' AND column_count IS NOT NULL
    GROUP BY pass_id, row_count, column_count
),
column_of_product AS (
    SELECT *, sum(product_count) OVER (PARTITION BY pass_id, column_count) AS column_product_count
    FROM product
),
-- The scores of all words are the widest product, and layers have none as wide.
head AS (
    SELECT pass_id, arg_max(row_count, column_count) AS row_count, max(column_count) AS column_count
    FROM column_of_product
    WHERE column_product_count <= 2 AND column_count >= 1024
    GROUP BY pass_id
),
widest AS (
    SELECT pass_id, max(column_count) AS column_count
    FROM column_of_product
    WHERE column_product_count > 2
    GROUP BY pass_id
),
known_head AS (
    SELECT head.*
    FROM head
    LEFT JOIN widest USING (pass_id)
    WHERE widest.column_count IS NULL OR head.column_count > widest.column_count
),
row_of_product AS (
    SELECT product.pass_id, product.row_count, sum(product_count) AS product_count
    FROM product
    LEFT JOIN known_head
        ON known_head.pass_id = product.pass_id AND known_head.column_count = product.column_count
        AND known_head.row_count = product.row_count
    WHERE known_head.pass_id IS NULL
    GROUP BY product.pass_id, product.row_count
),
of_product AS (
    SELECT pass_id, arg_max(row_count, (product_count, row_count)) AS row_count
    FROM row_of_product
    GROUP BY pass_id
),
-- Scores of drafted tokens are as many as those that are verified; the others are one a request.
verified AS (
    SELECT pass_id, max(row_count) AS row_count
    FROM pass.shape
    WHERE part = 'verification'
    GROUP BY pass_id
),
chosen AS (
    SELECT
        shape.pass_id,
        coalesce(
            min(shape.row_count) FILTER (shape.row_count IS DISTINCT FROM verified.row_count), min(shape.row_count)
        ) AS chosen_count,
        min(verified.row_count) AS verified_count
    FROM pass.shape
    LEFT JOIN verified USING (pass_id)
    WHERE shape.part IN ('sampling', 'verification')
    GROUP BY shape.pass_id
),
kind AS (
    SELECT
        pass_id,
        bool_or(part = 'prefill attention') AS has_prefill,
        bool_or(part = 'decode attention') AS has_decode,
        bool_or(part = 'attention') AS has_attention
    FROM pass.shape
    GROUP BY pass_id
),
passes AS (
    SELECT pass_id, bool_or(is_draft) AS is_draft
    FROM pass.kernel
    GROUP BY pass_id
)
SELECT
    passes.pass_id,
    passes.is_draft,
    coalesce(kind.has_prefill, false) AS has_prefill,
    coalesce(kind.has_decode, false) AS has_decode,
    coalesce(kind.has_attention, false) AS has_attention,
    coalesce(of_attention.query_count, of_product.row_count) AS query_count,
    of_attention.sequence_count,
    coalesce(of_attention.has_one_each, false) AS has_one_each,
    coalesce(of_attention.has_several, false) AS has_several,
    coalesce(of_attention.has_two_calls, false) AS has_two_calls,
    of_attention.decode_count,
    coalesce(of_attention.is_without_cache, false) AS is_without_cache,
    chosen.pass_id IS NOT NULL OR known_head.pass_id IS NOT NULL AS has_choice,
    coalesce(chosen.chosen_count, known_head.row_count) AS chosen_count,
    chosen.verified_count,
    carried.carried_count
FROM passes
LEFT JOIN kind USING (pass_id)
LEFT JOIN of_attention USING (pass_id)
LEFT JOIN of_product USING (pass_id)
LEFT JOIN known_head USING (pass_id)
LEFT JOIN chosen USING (pass_id)
LEFT JOIN pass.carried USING (pass_id)
