-- One row is the kind of kernel that comes once per layer, by which layers are found; there is no row where no kind comes back
-- with the same kernels in between.
--
-- symbol          BIGINT  a symbol of layer.sequence; 0 for kernels of any symbol that begin attention
-- repeated_count  BIGINT  kernels in those stretches from one such kernel to the next that a nearby stretch repeats
--
-- In E A B C B A B C B A B C B L:
--     from A to A   4 kernels, A B C B, twice: repeated_count 8, the same as from C to C with C B A B
--     from B to B   2 kernels, in turn B C and B A: never the same twice in a row
-- so A and C come once per layer. Such a stretch is identified by its length and the sum of the hashes of its triples (A B C,
-- B C B, ...): both are differences of two running sums, so no lists are compared.
WITH threshold AS (
    SELECT 4 AS least_kernels, 2 / 3 AS serving_share, 4 AS largest_distance
),
gram AS (
    SELECT
        sequence_position,
        symbol,
        (hash(symbol, lead(symbol) OVER in_order, lead(symbol, 2) OVER in_order) & 1099511627775)::BIGINT AS gram
    FROM layer.sequence
    WINDOW in_order AS (ORDER BY sequence_position)
),
summed_gram AS (
    SELECT sequence_position, symbol, sum(gram) OVER (ORDER BY sequence_position ROWS UNBOUNDED PRECEDING) AS gram_sum
    FROM gram
),
candidate AS (
    SELECT sequence_position, symbol
    FROM layer.sequence
    UNION ALL
    SELECT sequence_position, 0
    FROM layer.sequence
    WHERE begins_attention
),
-- The kernels from one of a symbol up to the next: how many, and the sum over their triples, which identifies their order too.
stretch AS (
    SELECT
        candidate.symbol,
        sequence_position,
        row_number() OVER of_kind AS number,
        lead(sequence_position) OVER of_kind - sequence_position AS length,
        lead(gram_sum) OVER of_kind - gram_sum AS fingerprint
    FROM candidate
    JOIN summed_gram USING (sequence_position)
    WINDOW of_kind AS (PARTITION BY candidate.symbol ORDER BY sequence_position)
),
-- Layers of all kinds have attention, and the kinds may alternate; for other symbols the next stretch has to be the same.
compared_stretch AS (
    SELECT
        symbol,
        length,
        coalesce(
            least(number - lag(number) OVER same, lead(number) OVER same - number) <= if(symbol = 0, largest_distance, 1),
            false
        ) AS is_repeated
    FROM stretch
    CROSS JOIN threshold
    WINDOW same AS (PARTITION BY symbol, length, fingerprint ORDER BY sequence_position)
),
usual AS (
    SELECT symbol, quantile_disc(length, 0.5) FILTER (is_repeated) AS length, sum(length) FILTER (is_repeated) AS repeated_count
    FROM compared_stretch
    GROUP BY symbol
    HAVING bool_or(is_repeated)
),
-- What comes once per pass repeats too. Layers are the shortest of the stretches that hold most of what repeats.
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
)
SELECT symbol, max(short_enough.repeated_count)::BIGINT AS repeated_count
FROM short_enough
JOIN compared_stretch USING (symbol)
GROUP BY symbol
-- Of several that serve equally well: attention, else the symbol that comes in layers of other kernels too.
ORDER BY
    bool_or(is_long_enough) DESC,
    symbol = 0 DESC,
    repeated_count DESC,
    count(*) FILTER (compared_stretch.length BETWEEN short_enough.length / 2 AND short_enough.length * 2) DESC,
    count(*),
    symbol
LIMIT 1
