-- One row is a layer in a pass through the layers, such as a step or a token, in the order of time.
--
-- @sum kernel_count, extra_kernel_count, duration_ns
--
-- pass                BIGINT   which pass, from 0
-- layer               BIGINT   which layer of the pass, from 0
-- kind                BIGINT   kind of layer: layers of one kind have the same kernels; NULL for an irregular one
-- reason              VARCHAR  why it is irregular; NULL where it is not
-- kernel_count        BIGINT   kernels of the model in it
-- extra_kernel_count  BIGINT   those at changing positions, or that open the layer beyond those that open the others of its
--                              kind
-- duration_ns         BIGINT   time of its kernels, ns
-- span_ns             BIGINT   from the start of its first kernel to the end of its last, ns
-- start_ns            BIGINT   start of its first kernel, Unix ns
-- types               VARCHAR  for an irregular layer the types of its kernels, or their names where there are no types, in
--                              order; NULL for other layers, which layer.statistic shows
WITH kernel AS (
    SELECT
        kernel_layer.* EXCLUDE (kind),
        coalesce(type.text, name.text) AS type
    FROM layer.kernel_layer
    LEFT JOIN trace.string AS type ON type.text_id = kernel_layer.type_id
    LEFT JOIN trace.string AS name ON name.text_id = kernel_layer.name_id
    WHERE layer_id IS NOT NULL
)
SELECT
    kernel.pass,
    kernel.layer,
    instance.kind,
    instance.reason,
    count(*) AS kernel_count,
    count(*) - count(position) AS extra_kernel_count,
    sum(end_ns - start_ns)::BIGINT AS duration_ns,
    max(end_ns) - min(start_ns) AS span_ns,
    min(start_ns) AS start_ns,
    string_agg(type, ', ' ORDER BY sequence_position) FILTER (instance.kind IS NULL) AS types
FROM kernel
JOIN layer.instance USING (layer_id)
GROUP BY kernel.pass, kernel.layer, instance.kind, instance.reason, layer_id
ORDER BY kernel.pass, kernel.layer
