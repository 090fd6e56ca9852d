-- One row is a segment of layer.segment_kernel: the kernels from an anchor up to the next, without noise.
--
-- segment          BIGINT    number, from 1; 0 is what comes before the first anchor
-- anchor_position  BIGINT    position of its first kernel
-- symbols          BIGINT[]  the kinds of its kernels
-- cores            BIGINT[]  their cores
-- attention        BIGINT    which of them is the last attention kernel, from 1; NULL where there is none
-- norms            BIGINT[]  which of them take in the residual and norm it, from 1; NULL where there is none
-- block_ends       BIGINT[]  for each of these the last kernel of the block before it: itself where it is of that block too
-- is_repeated      BOOLEAN   the segment before or behind it has the same kernels; where attention is the anchor, one of the 4
--                              before or behind it, as kinds of layers may come in turn
WITH numbered AS (
    SELECT *, row_number() OVER (PARTITION BY segment ORDER BY position) AS number
    FROM layer.segment_kernel
    WHERE position IS NOT NULL
),
listed AS (
    SELECT
        segment,
        min(position) AS anchor_position,
        list(symbol ORDER BY position) AS symbols,
        list(core_id ORDER BY position) AS cores,
        max(number) FILTER (part = 'attention') AS attention,
        list(number ORDER BY position) FILTER (part IN ('residual norm', 'closing norm')) AS norms,
        list(if(part = 'closing norm', number, number - 1) ORDER BY position) FILTER (part IN ('residual norm', 'closing norm'))
            AS block_ends
    FROM numbered
    GROUP BY segment
),
threshold AS (
    SELECT if(anchor.symbol = 0, 4, 1) AS largest_distance, 4 * (SELECT median(len(symbols)) FROM listed) AS most_kernels
    FROM layer.anchor
)
SELECT
    listed.*,
    coalesce(
        segment > 0
        AND len(symbols) <= most_kernels
        AND least(
            segment - lag(segment) OVER same,
            lead(segment) OVER same - segment
        ) <= largest_distance,
        false
    ) AS is_repeated
FROM listed
CROSS JOIN threshold
WINDOW same AS (PARTITION BY segment > 0, symbols ORDER BY segment)
