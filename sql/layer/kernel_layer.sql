-- One row is a kernel of the model with the layer that it is in.
--
-- @unique bounded_layer by first_sequence_position: layers do not overlap
--
-- sequence_position  BIGINT   position in the sequence, from 1
-- kernel_id          BIGINT   a kernel of trace.kernel
-- part               VARCHAR  layer; outside layers prologue, between passes or epilogue; NULL where no layers were found
-- pass               BIGINT   which pass through the layers, from 0; NULL outside layers
-- layer              BIGINT   which layer of the pass, from 0; NULL outside layers
-- layer_id           BIGINT   the layer as in layer.instance; NULL outside layers
-- kind               BIGINT   kind of layer; NULL outside layers and in irregular ones
-- position           BIGINT   which kernel of the layer, from 1; NULL outside layers, for kernels at changing positions, and
--                             for those that open a layer beyond those that open the others of its kind
-- symbol             BIGINT   symbol of its type and core, as in layer.symbol
-- name_id            TEXT_ID  name of the kernel
-- type_id            TEXT_ID  operator type, such as MatMulV3, the usual one of kernels of its name; NULL when it is not known
-- core_id            TEXT_ID  cores it ran on
-- start_ns           BIGINT   start, Unix ns
-- end_ns             BIGINT   end, Unix ns
--
-- A kernel at a changing position between two layers belongs to the first one.
WITH bounded_layer AS (
    SELECT
        instance.*,
        first.sequence_position AS first_sequence_position,
        coalesce(lead(first.sequence_position) OVER of_stretch - 1, last.sequence_position) AS last_sequence_position
    FROM layer.instance
    JOIN layer.segment_kernel AS first ON first.position = instance.first_position
    JOIN layer.segment_kernel AS last ON last.position = instance.last_position
    WINDOW of_stretch AS (PARTITION BY stretch ORDER BY layer_id)
),
extent AS (
    SELECT min(first_sequence_position) AS first_sequence_position, max(last_sequence_position) AS last_sequence_position
    FROM bounded_layer
),
in_bounds AS (
    SELECT
        sequence.sequence_position,
        sequence.kernel_id,
        sequence.symbol,
        sequence.type_id,
        segment_kernel.position,
        bounded_layer.* EXCLUDE (first_sequence_position, last_sequence_position),
        coalesce(sequence.sequence_position <= bounded_layer.last_sequence_position, false) AS is_inside
    FROM layer.sequence
    LEFT JOIN layer.segment_kernel USING (sequence_position)
    ASOF LEFT JOIN bounded_layer ON sequence.sequence_position >= bounded_layer.first_sequence_position
)
SELECT
    sequence_position,
    kernel_id,
    CASE
        WHEN is_inside THEN 'layer'
        WHEN extent.first_sequence_position IS NULL THEN NULL
        WHEN sequence_position < extent.first_sequence_position THEN 'prologue'
        WHEN sequence_position > extent.last_sequence_position THEN 'epilogue'
        ELSE 'between passes'
    END AS part,
    if(is_inside, pass, NULL)::BIGINT AS pass,
    if(is_inside, layer, NULL) AS layer,
    if(is_inside, layer_id, NULL) AS layer_id,
    if(is_inside, in_bounds.kind, NULL) AS kind,
    CASE
        WHEN NOT is_inside THEN NULL
        WHEN in_bounds.kind IS NULL THEN position - first_position + 1
        WHEN position >= core_position THEN position - core_position + opening_count + 1
        WHEN position - first_position < opening_count THEN position - first_position + 1
    END AS position,
    in_bounds.symbol,
    kernel.name_id,
    in_bounds.type_id,
    kernel.core_id,
    kernel.start_ns,
    kernel.end_ns
FROM in_bounds
JOIN trace.kernel USING (kernel_id)
CROSS JOIN extent
