-- One row is a kind of layer: layers with the same kernels behind the norm that opens them, two or more.
--
-- kind           BIGINT    number, in the order of the first of each
-- symbols        BIGINT[]  the kinds of its kernels, without what opens it
-- kernel_count   BIGINT    how many kernels such a layer has
-- opening_count  BIGINT    how many of them open it
-- layer_count    BIGINT    how many such layers there are
SELECT
    row_number() OVER (ORDER BY min(layer_id)) AS kind,
    symbols,
    len(symbols) + arg_max(opening_count, (layers, -opening_count)) AS kernel_count,
    arg_max(opening_count, (layers, -opening_count)) AS opening_count,
    sum(layers)::BIGINT AS layer_count
FROM (
    SELECT symbols, opening_count, min(layer_id) AS layer_id, count(*) AS layers
    FROM layer.core
    GROUP BY symbols, opening_count
)
GROUP BY symbols
HAVING sum(layers) >= 2
