-- One row is a layer in which the profile begins or ends: its kernels are the last or the first ones of a kind of layer.
--
-- layer_id      BIGINT   a layer of layer.boundary
-- kind          BIGINT   the kind of layer.kind that it is a part of; NULL where several kinds have such a part
-- reason        VARCHAR  which edge of the profile cuts it
-- is_in_front   BOOLEAN  whether it is only what such a layer has in front of its attention or within it
WITH edge AS (
    SELECT min(position) AS first_position, max(position) AS last_position
    FROM layer.segment_kernel
),
at_edge AS (
    SELECT
        layer_id,
        core.symbols,
        boundary.first_position = edge.first_position AS is_first,
        boundary.last_position = edge.last_position AS is_last
    FROM layer.core
    JOIN layer.boundary USING (layer_id)
    CROSS JOIN edge
    ANTI JOIN layer.kind AS whole ON whole.symbols = core.symbols
    WHERE boundary.first_position = edge.first_position OR boundary.last_position = edge.last_position
)
SELECT
    layer_id,
    if(count(*) = 1, min(kind.kind), NULL) AS kind,
    if(bool_or(is_last), 'is cut by the end of the profile', 'is cut by the beginning of the profile') AS reason,
    bool_and(is_last AND coalesce(len(at_edge.symbols) < kind.attention, false)) AS is_in_front
FROM at_edge
-- All pairs: a profile has two layers at its edges, and few kinds of layers.
JOIN layer.kind
    ON len(kind.symbols) > len(at_edge.symbols)
    AND (
        is_first AND kind.symbols[-len(at_edge.symbols):] = at_edge.symbols
        OR is_last AND kind.symbols[:len(at_edge.symbols)] = at_edge.symbols
    )
GROUP BY layer_id
