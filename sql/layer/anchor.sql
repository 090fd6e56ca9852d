-- One row is the kind of kernel that comes once a layer, so that layers are told apart by it; none where no kind comes back with the
-- same kernels in between.
--
-- symbol         BIGINT  a kind of kernel of layer.sequence
-- repeated_count BIGINT  kernels of the sequence between two of it with the same kernels as before the first or behind the second
--
-- In E A B C B A B C B A B C B L:
--     from A to A   4 kernels, A B C B, twice: repeated_count 8, as it is from C to C with C B A B
--     from B to B   2 kernels, in turn B C and B A: never twice the same one behind the other
-- so A and C come once a layer. What lies between two of a kind is known by its length and by the sum of the hashes of its threes
-- (A B C, B C B, ...): both can be had as the difference of two running sums, without comparing lists.
WITH threshold AS (
    SELECT 4 AS least_kernels, 2 / 3 AS serving_share
),
gram AS (
    SELECT
        position,
        symbol,
        (hash(symbol, lead(symbol) OVER in_order, lead(symbol, 2) OVER in_order) & 1099511627775)::BIGINT AS gram
    FROM layer.sequence
    WINDOW in_order AS (ORDER BY position)
),
summed AS (
    SELECT position, symbol, sum(gram) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS gram_sum
    FROM gram
),
-- What lies between two of a kind: how many kernels, and the sum over their threes, which tells them and their order.
stretch AS (
    SELECT
        symbol,
        position,
        lead(position) OVER of_kind - position AS length,
        lead(gram_sum) OVER of_kind - gram_sum AS fingerprint
    FROM summed
    WINDOW of_kind AS (PARTITION BY symbol ORDER BY position)
),
compared AS (
    SELECT
        symbol,
        length,
        coalesce(lag(fingerprint) OVER of_kind = fingerprint AND lag(length) OVER of_kind = length, false)
        OR coalesce(lead(fingerprint) OVER of_kind = fingerprint AND lead(length) OVER of_kind = length, false) AS is_repeated
    FROM stretch
    WINDOW of_kind AS (PARTITION BY symbol ORDER BY position)
),
usual AS (
    SELECT symbol, quantile_disc(length, 0.5) FILTER (is_repeated) AS length, sum(length) FILTER (is_repeated) AS repeated_count
    FROM compared
    GROUP BY symbol
    HAVING bool_or(is_repeated)
),
-- What comes once a pass repeats too. Layers are the shortest that repeat in most of what repeats.
serving AS (
    SELECT *, length >= least_kernels AS is_long_enough
    FROM usual
    CROSS JOIN threshold
    QUALIFY repeated_count >= serving_share * max(repeated_count) OVER (PARTITION BY length >= least_kernels)
),
short_enough AS (
    SELECT *
    FROM serving
    QUALIFY length < 2 * min(length) OVER (PARTITION BY is_long_enough)
),
known_part AS (
    SELECT symbol, max(part) AS part
    FROM layer.sequence
    GROUP BY symbol
)
SELECT symbol, max(short_enough.repeated_count)::BIGINT AS repeated_count
FROM short_enough
JOIN compared USING (symbol)
JOIN known_part USING (symbol)
GROUP BY symbol
-- Attention is in layers of all kinds; of the others that serve equally well, one that comes in layers of other kernels too.
ORDER BY
    bool_or(is_long_enough) DESC,
    coalesce(max(part) = 'attention', false) DESC,
    repeated_count DESC,
    count(*) FILTER (compared.length BETWEEN short_enough.length / 2 AND short_enough.length * 2) DESC,
    count(*),
    symbol
LIMIT 1
