-- One row is a chain: consecutive kernels on a stream that one fused op could replace.
--
-- chain_id     BIGINT   the id, counted from 1
-- pattern      VARCHAR  a pattern of chain.pattern
-- stream       BIGINT   as in chain.place
-- first_place  BIGINT   place of its first kernel
-- last_place   BIGINT   place of its last kernel
WITH sequence AS (
    SELECT stream, string_agg(symbol, '' ORDER BY place) AS symbols
    FROM chain.place
    GROUP BY stream
),
any_pattern AS (
    SELECT string_agg(format('(?:{})', expression), '|' ORDER BY precedence) AS expression
    FROM chain.pattern
),
-- Each match begins a piece, and a mark separates it from what follows it.
piece AS (
    SELECT
        sequence.stream,
        unnest(string_split(regexp_replace(symbols, '(' || any_pattern.expression || ')', '<\1>', 'g'), '<')) AS piece,
        generate_subscripts(
            string_split(regexp_replace(symbols, '(' || any_pattern.expression || ')', '<\1>', 'g'), '<'), 1
        ) AS number
    FROM sequence
    CROSS JOIN any_pattern
),
placed_piece AS (
    SELECT
        stream,
        number,
        split_part(piece, '>', 1) AS symbols,
        sum(length(replace(piece, '>', ''))) OVER (PARTITION BY stream ORDER BY number ROWS UNBOUNDED PRECEDING)
            - length(replace(piece, '>', '')) + 1 AS first_place
    FROM piece
    QUALIFY contains(piece, '>')
),
meaning AS (
    SELECT symbols, arg_min(pattern, precedence) AS pattern
    FROM (SELECT DISTINCT symbols FROM placed_piece)
    CROSS JOIN chain.pattern
    WHERE regexp_full_match(symbols, expression)
    GROUP BY symbols
)
SELECT
    row_number() OVER (ORDER BY stream, first_place) AS chain_id,
    pattern,
    stream,
    first_place::BIGINT AS first_place,
    (first_place + length(symbols) - 1)::BIGINT AS last_place
FROM placed_piece
JOIN meaning USING (symbols)
