-- One row is a segment of layer.place: the kernels from an anchor up to the next, without noise.
--
-- segment       BIGINT    number, from 1; 0 is what comes before the first anchor
-- anchor_place  BIGINT    place of its first kernel
-- symbols       BIGINT[]  the kinds of its kernels
-- cores         BIGINT[]  their cores
-- is_repeated   BOOLEAN   the segment before or behind it has the same kernels
WITH listed AS (
    SELECT
        segment,
        min(place) AS anchor_place,
        list(symbol ORDER BY place) AS symbols,
        list(core_id ORDER BY place) AS cores
    FROM layer.place
    WHERE place IS NOT NULL
    GROUP BY segment
)
SELECT
    segment,
    anchor_place,
    symbols,
    cores,
    segment > 0
    AND (
        coalesce(lag(segment) OVER in_order > 0 AND lag(symbols) OVER in_order = symbols, false)
        OR coalesce(lead(symbols) OVER in_order = symbols, false)
    ) AS is_repeated
FROM listed
WINDOW in_order AS (ORDER BY segment)
