-- One row is a kind of layer: two or more layers with the same kernels after the norm that opens them.
--
-- kind           BIGINT    number, in the order of the first layer of each
-- symbols        BIGINT[]  the symbols of its kernels, without those that open it
-- attention      BIGINT    index of the last attention kernel in symbols, from 1; NULL without one
-- kernel_count   BIGINT    kernels of such a layer
-- opening_count  BIGINT    kernels that open such a layer
-- layer_count    BIGINT    layers of this kind
SELECT
    row_number() OVER (ORDER BY min(layer_id)) AS kind,
    symbols,
    min(attention) AS attention,
    len(symbols) + arg_max(opening_count, (layers, -opening_count)) AS kernel_count,
    arg_max(opening_count, (layers, -opening_count)) AS opening_count,
    sum(layers)::BIGINT AS layer_count
FROM (
    SELECT symbols, opening_count, min(attention) AS attention, min(layer_id) AS layer_id, count(*) AS layers
    FROM layer.core
    GROUP BY symbols, opening_count
)
GROUP BY symbols
HAVING sum(layers) >= 2
