-- One row is the kind of kernel that comes once a layer, so that layers are told apart by it; none where no kind comes back with the
-- same kernels in between.
--
-- symbol         BIGINT  a kind of kernel of layer.sequence
-- repeated_count BIGINT  kernels of the sequence between two of it with the same kernels as before the first or behind the second
WITH gram AS (
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
    SELECT *
    FROM usual
    QUALIFY 3 * repeated_count >= 2 * max(repeated_count) OVER (PARTITION BY length >= 4)
),
short_enough AS (
    SELECT *
    FROM serving
    QUALIFY length < 2 * min(length) OVER (PARTITION BY length >= 4)
)
SELECT symbol, max(short_enough.repeated_count)::BIGINT AS repeated_count
FROM short_enough
JOIN compared USING (symbol)
GROUP BY symbol
-- Of those that serve equally well, one that comes in layers of other kernels too.
ORDER BY
    max(short_enough.length) >= 4 DESC,
    repeated_count DESC,
    count(*) FILTER (compared.length BETWEEN short_enough.length / 2 AND short_enough.length * 2) DESC,
    count(*),
    symbol
LIMIT 1
