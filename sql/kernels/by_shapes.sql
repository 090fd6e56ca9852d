-- One row is a kind, name, type and core of kernels and their input shapes and types, with their number and times, the largest
-- total time first; with --filter, only those whose name or type it chooses.
--
-- kind             ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- name_id          TEXT_ID  name of the kernels
-- type_id          TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- core_id          TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- input_shapes_id  TEXT_ID  input shapes as the profiler wrote them, tensors split by ';'; NULL at Level0
-- input_types_id   TEXT_ID  input data types; NULL at Level0
-- @columns kernel_count to max_ns as in kernels.by_name
WITH counted_duration AS (
    SELECT kind, name_id, type_id, core_id, input_shapes_id, input_types_id, duration_ns, sum(kernel_count) AS row_count
    FROM kernels.shape_duration
    GROUP BY ALL
)
SELECT
    unnest(key),
    row_count AS kernel_count,
    total_ns,
    total_ns / nullif(sum(total_ns) OVER (PARTITION BY key.kind), 0) AS share,
    unnest(spread)
FROM statistic_of(
    counted_duration,
    {
        'kind': kind,
        'name_id': name_id,
        'type_id': type_id,
        'core_id': core_id,
        'input_shapes_id': input_shapes_id,
        'input_types_id': input_types_id
    }
)
LEFT JOIN trace.string AS name ON name.text_id = key.name_id
LEFT JOIN trace.string AS type ON type.text_id = key.type_id
LEFT JOIN trace.string AS core ON core.text_id = key.core_id
LEFT JOIN trace.string AS shapes ON shapes.text_id = key.input_shapes_id
LEFT JOIN trace.string AS types ON types.text_id = key.input_types_id
QUALIFY is_chosen(name.text) OR is_chosen(type.text)
ORDER BY total_ns DESC, key.kind, name.text, type.text, core.text, shapes.text, types.text
