-- One row is a segment of layer.segment_kernel: the kernels from an anchor up to the next, without noise.
--
-- segment          BIGINT    number, from 1; 0 is the part before the first anchor
-- anchor_position  BIGINT    position of its first kernel
-- symbols          BIGINT[]  the symbols of its kernels
-- cores            BIGINT[]  their cores
-- attention        BIGINT    index of the last attention kernel, from 1; NULL without one
-- norms            BIGINT[]  indexes of the norms that add the residual, from 1; NULL without any
-- block_ends       BIGINT[]  for each of these norms the last kernel of the block before it; the norm itself where it is part
--                            of that block
-- is_repeated      BOOLEAN   whether the segment before or after it has the same kernels; where attention is the anchor, one of
--                            the 4 before or after it, since kinds of layers may alternate
WITH numbered_kernel AS (
    SELECT *, row_number() OVER (PARTITION BY segment ORDER BY position) AS number
    FROM layer.segment_kernel
    WHERE position IS NOT NULL
),
listed_segment AS (
    SELECT
        segment,
        min(position) AS anchor_position,
        list(symbol ORDER BY position) AS symbols,
        list(core_id ORDER BY position) AS cores,
        max(number) FILTER (part = 'attention') AS attention,
        list(number ORDER BY position) FILTER (part IN ('residual norm', 'closing norm')) AS norms,
        list(if(part = 'closing norm', number, number - 1) ORDER BY position) FILTER (part IN ('residual norm', 'closing norm'))
            AS block_ends
    FROM numbered_kernel
    GROUP BY segment
),
threshold AS (
    SELECT
        if(anchor.symbol = 0, 4, 1) AS largest_distance,
        4 * (SELECT median(len(symbols)) FROM listed_segment) AS most_kernels
    FROM layer.anchor
)
SELECT
    listed_segment.*,
    coalesce(
        segment > 0
        AND len(symbols) <= most_kernels
        AND least(
            segment - lag(segment) OVER same,
            lead(segment) OVER same - segment
        ) <= largest_distance,
        false
    ) AS is_repeated
FROM listed_segment
CROSS JOIN threshold
WINDOW same AS (PARTITION BY segment > 0, symbols ORDER BY segment)
