-- One row is a kernel of the model with the layer that it is in.
--
-- position     BIGINT   place in the sequence, from 1
-- kernel_id    BIGINT   a kernel of trace.kernel
-- part         VARCHAR  layer, or outside them prologue, between passes, epilogue; NULL where no layers were found
-- pass         BIGINT   which pass through the layers, from 0; NULL outside layers
-- layer        BIGINT   which layer of the pass, from 0; NULL outside layers
-- layer_id     BIGINT   the layer as in layer.found; NULL outside layers
-- kind         BIGINT   kind of layer; NULL outside layers and in irregular ones
-- place        BIGINT   which kernel of the layer, from 1; NULL outside layers, for kernels that come at changing places, and
--                       for what opens a layer beyond what opens the others of its kind
-- symbol       BIGINT   stands for its type and core, as in layer.symbol
-- name_id      TEXT_ID  name of the kernel
-- type_id      TEXT_ID  operator type, such as MatMulV3, the usual one of kernels of its name; NULL when it is not known
-- core_id      TEXT_ID  cores it ran on
-- start_ns     BIGINT   start, Unix ns
-- end_ns       BIGINT   end, Unix ns
--
-- A kernel at a changing place between two layers is the first one's.
WITH bounded AS (
    SELECT
        found.*,
        first.position AS first_position,
        coalesce(lead(first.position) OVER of_stretch - 1, last.position) AS last_position
    FROM layer.found
    JOIN layer.place AS first ON first.place = found.first_place
    JOIN layer.place AS last ON last.place = found.last_place
    WINDOW of_stretch AS (PARTITION BY stretch ORDER BY layer_id)
),
extent AS (
    SELECT min(first_position) AS first_position, max(last_position) AS last_position
    FROM bounded
),
placed AS (
    SELECT
        sequence.position,
        sequence.kernel_id,
        sequence.symbol,
        sequence.type_id,
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
    CASE
        WHEN NOT is_inside THEN NULL
        WHEN placed.kind IS NULL THEN place - first_place + 1
        WHEN place >= core_place THEN place - core_place + opening_count + 1
        WHEN place - first_place < opening_count THEN place - first_place + 1
    END AS place,
    placed.symbol,
    kernel.name_id,
    placed.type_id,
    kernel.core_id,
    kernel.start_ns,
    kernel.end_ns
FROM placed
JOIN trace.kernel USING (kernel_id)
CROSS JOIN extent
