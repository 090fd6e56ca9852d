-- One row is a kernel of layer.sequence with its segment: from one anchor up to the next.
--
-- position  BIGINT   place in the sequence
-- kernel_id BIGINT   a kernel of trace.kernel
-- symbol    BIGINT   its kind, of layer.sequence
-- core_id   TEXT_ID  cores it ran on
-- segment   BIGINT   how many anchors there were up to here
-- place     BIGINT   place in the sequence without noise, from 1; NULL for noise: a kind that comes at changing places
WITH segmented AS (
    SELECT
        sequence.*,
        sum(if(sequence.symbol = anchor.symbol, 1, 0)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS segment
    FROM layer.sequence
    JOIN layer.anchor ON true
),
held AS (
    SELECT segment, symbol, count(*) AS kernel_count
    FROM segmented
    GROUP BY segment, symbol
),
followed AS (
    SELECT
        symbol,
        coalesce(
            lead(segment) OVER of_kind = segment + 1 AND lead(kernel_count) OVER of_kind = kernel_count, false
        ) AS comes_again
    FROM held
    WINDOW of_kind AS (PARTITION BY symbol ORDER BY segment)
),
-- Most segments that have it are followed by one that has as many.
structural AS (
    SELECT symbol
    FROM followed
    GROUP BY symbol
    HAVING 2 * count(*) FILTER (comes_again) > count(*)
),
marked AS (
    SELECT
        segmented.position,
        segmented.symbol,
        segment,
        structural.symbol AS structural_symbol
    FROM segmented
    LEFT JOIN structural USING (symbol)
),
between AS (
    SELECT
        *,
        count(structural_symbol) OVER (PARTITION BY segment ORDER BY position ROWS UNBOUNDED PRECEDING) AS slot,
        last_value(structural_symbol IGNORE NULLS) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS symbol_before,
        first_value(structural_symbol IGNORE NULLS) OVER (ORDER BY position ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
            AS symbol_behind
    FROM marked
),
neighbours AS (
    SELECT DISTINCT symbol AS symbol_before, lead(symbol) OVER (ORDER BY position) AS symbol_behind, true AS follow_each_other
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
-- No place has more than a third of them; they are not all in one layer; and most stand between two that elsewhere are neighbours.
noise AS (
    SELECT symbol
    FROM slot
    GROUP BY symbol
    HAVING 3 * max(kernel_count) <= sum(kernel_count)
        AND min(first_segment) < max(last_segment)
        AND 2 * sum(inserted_count) > sum(kernel_count)
)
SELECT
    position,
    kernel_id,
    segmented.symbol,
    core_id,
    segment::BIGINT AS segment,
    if(
        noise.symbol IS NULL,
        sum(if(noise.symbol IS NULL, 1, 0)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING),
        NULL
    )::BIGINT AS place
FROM segmented
LEFT JOIN noise USING (symbol)
