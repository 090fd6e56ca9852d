-- One row is a kernel of the main stream with the layer that it is in.
--
-- position     BIGINT   place in the main stream, from 1
-- kernel_id    BIGINT   a kernel of trace.kernel
-- part         VARCHAR  layer, or outside them prologue, between passes or epilogue; NULL where no layers were found
-- pass         BIGINT   which pass through the layers, from 0; NULL outside layers
-- layer        BIGINT   which layer of the pass, from 0; NULL outside layers
-- layer_id     BIGINT   the layer as in layer.found; NULL outside layers
-- kind         BIGINT   kind of layer; NULL outside layers and in irregular ones
-- place        BIGINT   which kernel of the layer, from 1; NULL outside layers and for kernels that come at changing places
-- name_id      TEXT_ID  name of the kernel
-- type_id      TEXT_ID  operator type, such as MatMulV3; NULL at Level0
-- core_id      TEXT_ID  cores it ran on
-- start_ns     BIGINT   start, Unix ns
-- end_ns       BIGINT   end, Unix ns
WITH separated AS (
    SELECT
        *,
        coalesce(lag(last_place) OVER in_order + 1 < first_place, false) AS begins_pass
    FROM layer.found
    WINDOW in_order AS (ORDER BY layer_id)
),
in_pass AS (
    SELECT *, sum(if(begins_pass, 1, 0)) OVER (ORDER BY layer_id ROWS UNBOUNDED PRECEDING) AS pass
    FROM separated
),
numbered AS (
    SELECT *, row_number() OVER (PARTITION BY pass ORDER BY layer_id) - 1 AS layer
    FROM in_pass
),
-- A kernel at a changing place between two layers is the first one's.
bounded AS (
    SELECT
        numbered.*,
        first.position AS first_position,
        coalesce(lead(first.position) OVER of_pass - 1, last.position) AS last_position
    FROM numbered
    JOIN layer.place AS first ON first.place = numbered.first_place
    JOIN layer.place AS last ON last.place = numbered.last_place
    WINDOW of_pass AS (PARTITION BY pass ORDER BY layer_id)
),
extent AS (
    SELECT min(first_position) AS first_position, max(last_position) AS last_position
    FROM bounded
),
placed AS (
    SELECT
        sequence.position,
        sequence.kernel_id,
        place.place,
        bounded.* EXCLUDE (first_position, last_position),
        coalesce(sequence.position <= bounded.last_position, false) AS is_inside
    FROM layer.sequence
    LEFT JOIN layer.place USING (position)
    ASOF LEFT JOIN bounded ON sequence.position >= bounded.first_position
)
SELECT
    position,
    kernel_id,
    CASE
        WHEN is_inside THEN 'layer'
        WHEN extent.first_position IS NULL THEN NULL
        WHEN position < extent.first_position THEN 'prologue'
        WHEN position > extent.last_position THEN 'epilogue'
        ELSE 'between passes'
    END AS part,
    if(is_inside, pass, NULL)::BIGINT AS pass,
    if(is_inside, layer, NULL) AS layer,
    if(is_inside, layer_id, NULL) AS layer_id,
    if(is_inside, placed.kind, NULL) AS kind,
    if(is_inside, place - first_place + 1, NULL) AS place,
    kernel.name_id,
    kernel.type_id,
    kernel.core_id,
    kernel.start_ns,
    kernel.end_ns
FROM placed
JOIN trace.kernel USING (kernel_id)
JOIN extent ON true
