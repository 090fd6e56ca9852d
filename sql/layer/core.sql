-- One row is a layer with its kernels after the norm that opens it, which decide its kind.
--
-- @unique boundary by first_position: layers do not overlap
--
-- layer_id       BIGINT    a layer of layer.boundary
-- symbols        BIGINT[]  the symbols of these kernels
-- attention      BIGINT    index of the last attention kernel in symbols, from 1; NULL without one
-- opening_count  BIGINT    kernels that open the layer
SELECT
    layer_id,
    list(symbol ORDER BY position) FILTER (position >= core_position) AS symbols,
    max(position - core_position + 1) FILTER (position >= core_position AND part = 'attention') AS attention,
    count(*) FILTER (position < core_position) AS opening_count
FROM layer.segment_kernel
ASOF JOIN layer.boundary ON segment_kernel.position >= boundary.first_position
WHERE position <= last_position
GROUP BY layer_id
