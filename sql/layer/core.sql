-- One row is a layer with its kernels behind the norm that opens it, by which layers are of one kind or not.
--
-- layer_id       BIGINT    a layer of layer.boundary
-- symbols        BIGINT[]  the kinds of these kernels
-- opening_count  BIGINT    how many kernels open it
SELECT
    layer_id,
    list(symbol ORDER BY place) FILTER (place >= core_place) AS symbols,
    count(*) FILTER (place < core_place) AS opening_count
FROM layer.place
ASOF JOIN layer.boundary ON place.place >= boundary.first_place
WHERE place <= last_place
GROUP BY layer_id
