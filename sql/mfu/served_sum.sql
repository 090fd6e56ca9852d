-- One row is a pass of a server that annotations mark, and a part of its requests: those in prefill, those in decode, or all;
-- how many queries and keys their attention has in each layer.
--
-- @guard pass.marked
--
-- marked_id           BIGINT   a pass of pass.marked
-- part                VARCHAR  prefill, decode or all
-- query_count         BIGINT   queries; NULL when not known
-- key_count           BIGINT   keys that they attend to, each request for itself; NULL when not known
-- pair_count          HUGEINT  pairs of a query and a key that it attends to: sum of
--                              (queries * keys - (queries^2 - queries) / 2) over the requests, as no query attends to those
--                              behind it; NULL when not known
-- twice_halved_count  HUGEINT  sum of (2 * queries * keys - queries^2), in decode of (2 * queries * keys): twice the pairs as
--                              TraceLens counts them, half of the square; NULL when not known
-- reason              VARCHAR  why pair_count is NULL
--
-- Requests with one query each have as many squares as queries, and as many pairs as keys.
WITH of_part AS (
    SELECT
        marked_id,
        'prefill' AS part,
        prefill_request_count AS request_count,
        prefill_token_count AS query_count,
        prefill_key_count AS key_count,
        prefill_square_count AS square_count,
        prefill_pair_count AS product_count
    FROM pass.marked
    UNION ALL
    SELECT
        marked_id,
        'decode',
        decode_request_count,
        decode_token_count,
        decode_key_count,
        coalesce(decode_square_count, if(decode_token_count = decode_request_count, decode_token_count, NULL)),
        coalesce(decode_pair_count, if(decode_token_count = decode_request_count, decode_key_count, NULL))
    FROM pass.marked
),
told AS (
    SELECT
        marked_id,
        part,
        if(request_count = 0, 0, query_count) AS query_count,
        if(request_count = 0, 0, key_count) AS key_count,
        if(request_count = 0, 0, square_count) AS square_count,
        if(request_count = 0, 0, product_count) AS product_count
    FROM of_part
),
summed AS (
    SELECT
        *,
        query_count <= square_count AND ((square_count - query_count) & 1) = 0 AND square_count <= product_count
        AND query_count <= key_count AS agrees,
        product_count::HUGEINT - (square_count - query_count) // 2 AS pair_count,
        2 * product_count::HUGEINT - if(part = 'decode', 0, square_count) AS twice_halved_count
    FROM told
),
counted AS (
    SELECT marked_id, part, query_count, key_count, pair_count, twice_halved_count, agrees
    FROM summed
    UNION ALL
    SELECT
        marked_id,
        'all',
        CASE WHEN count(query_count) = 2 THEN sum(query_count)::BIGINT END,
        CASE WHEN count(key_count) = 2 THEN sum(key_count)::BIGINT END,
        CASE WHEN count(pair_count) = 2 THEN sum(pair_count)::HUGEINT END,
        CASE WHEN count(twice_halved_count) = 2 THEN sum(twice_halved_count)::HUGEINT END,
        bool_and(agrees)
    FROM summed
    GROUP BY marked_id
)
SELECT
    marked_id,
    part,
    query_count,
    key_count,
    if(agrees, pair_count, NULL) AS pair_count,
    if(agrees, twice_halved_count, NULL) AS twice_halved_count,
    CASE
        WHEN NOT agrees THEN 'the sums in the annotation of the pass contradict each other'
        WHEN pair_count IS NULL OR agrees IS NULL THEN 'the annotation of the pass does not say its queries and keys'
    END AS reason
FROM counted
