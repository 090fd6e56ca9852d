-- One row is a kernel of layer.sequence with its segment: from one anchor up to the next.
--
-- sequence_position  BIGINT   position in the sequence
-- kernel_id          BIGINT   a kernel of trace.kernel
-- symbol             BIGINT   its symbol, as in layer.sequence
-- part               VARCHAR  its part in a layer, as in layer.sequence
-- core_id            TEXT_ID  cores it ran on
-- segment            BIGINT   number of anchors up to here
-- position           BIGINT   position in the sequence without noise, from 1; NULL for noise: a symbol at changing positions
--
-- Anchor A, and c at changing positions:
--     kernels      E A c B C A B C A B c C A B C c
--     segments     0 1 1 1 1 2 2 2 3 3 3 3 4 4 4 4
--     structural   A, B, C: most segments that have them are followed by one that has as many. E and c are not.
--     slots of c   after the first, the second, the third structural kernel of its segment: none has more than a third of
--                  all c, and the kernels around c (A B, B C, C A) are neighbours elsewhere. So c is noise and has no position.
WITH threshold AS (
    SELECT 0.5 AS most, 3 AS least_slots
),
segmented AS (
    SELECT
        sequence.*,
        sum(if(sequence.symbol = anchor.symbol OR (anchor.symbol = 0 AND begins_attention), 1, 0))
            OVER (ORDER BY sequence_position ROWS UNBOUNDED PRECEDING) AS segment
    FROM layer.sequence
    CROSS JOIN layer.anchor
),
held_symbol AS (
    SELECT segment, symbol, count(*) AS kernel_count
    FROM segmented
    GROUP BY segment, symbol
),
followed_symbol AS (
    SELECT
        symbol,
        coalesce(
            lead(segment) OVER of_kind = segment + 1 AND lead(kernel_count) OVER of_kind = kernel_count, false
        ) AS comes_again
    FROM held_symbol
    WINDOW of_kind AS (PARTITION BY symbol ORDER BY segment)
),
-- Most segments that have it are followed by one that has as many.
structural AS (
    SELECT symbol
    FROM followed_symbol
    GROUP BY symbol
    HAVING count(*) FILTER (comes_again) > (SELECT most FROM threshold) * count(*)
),
marked_kernel AS (
    SELECT
        segmented.sequence_position,
        segmented.symbol,
        segment,
        structural.symbol AS structural_symbol
    FROM segmented
    LEFT JOIN structural USING (symbol)
),
between AS (
    SELECT
        *,
        count(structural_symbol) OVER (PARTITION BY segment ORDER BY sequence_position ROWS UNBOUNDED PRECEDING) AS slot,
        last_value(structural_symbol IGNORE NULLS) OVER (ORDER BY sequence_position ROWS UNBOUNDED PRECEDING) AS symbol_before,
        first_value(structural_symbol IGNORE NULLS)
            OVER (ORDER BY sequence_position ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
            AS symbol_behind
    FROM marked_kernel
),
neighbours AS (
    SELECT DISTINCT
        symbol AS symbol_before,
        lead(symbol) OVER (ORDER BY sequence_position) AS symbol_behind,
        true AS follow_each_other
    FROM segmented
),
slot AS (
    SELECT
        symbol,
        slot,
        count(*) AS kernel_count,
        count(follow_each_other) AS inserted_count,
        min(segment) AS first_segment,
        max(segment) AS last_segment
    FROM between
    LEFT JOIN neighbours USING (symbol_before, symbol_behind)
    WHERE structural_symbol IS NULL
    GROUP BY symbol, slot
),
-- No slot has more than a third of the symbol's kernels; they are not all in one segment; and around most of them are two
-- kernels that are neighbours elsewhere.
noise AS (
    SELECT symbol
    FROM slot
    GROUP BY symbol
    HAVING (SELECT least_slots FROM threshold) * max(kernel_count) <= sum(kernel_count)
        AND min(first_segment) < max(last_segment)
        AND sum(inserted_count) > (SELECT most FROM threshold) * sum(kernel_count)
)
SELECT
    sequence_position,
    kernel_id,
    segmented.symbol,
    part,
    core_id,
    segment::BIGINT AS segment,
    if(
        noise.symbol IS NULL,
        sum(if(noise.symbol IS NULL, 1, 0)) OVER (ORDER BY sequence_position ROWS UNBOUNDED PRECEDING),
        NULL
    )::BIGINT AS position
FROM segmented
LEFT JOIN noise USING (symbol)
