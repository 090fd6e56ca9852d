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
WITH counted AS (
    SELECT kind, name_id, type_id, core_id, input_shapes_id, input_types_id, duration_ns, sum(kernel_count) AS kernel_count
    FROM kernels.shape_duration
    GROUP BY ALL
),
ranked AS (
    SELECT
        *,
        sum(kernel_count) OVER (alike ORDER BY duration_ns) AS kernels_up_to,
        sum(kernel_count) OVER alike AS kernels
    FROM counted
    WINDOW alike AS (PARTITION BY kind, name_id, type_id, core_id, input_shapes_id, input_types_id)
),
summed AS (
    SELECT
        kind,
        name_id,
        type_id,
        core_id,
        input_shapes_id,
        input_types_id,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns * kernel_count)::BIGINT AS total_ns,
        spread_of_counted(duration_ns, kernel_count, kernels_up_to, kernels) AS spread
    FROM ranked
    GROUP BY kind, name_id, type_id, core_id, input_shapes_id, input_types_id
)
SELECT
    summed.kind,
    summed.name_id,
    summed.type_id,
    summed.core_id,
    summed.input_shapes_id,
    summed.input_types_id,
    summed.kernel_count,
    summed.total_ns,
    summed.total_ns / nullif(sum(summed.total_ns) OVER (PARTITION BY summed.kind), 0) AS share,
    unnest(summed.spread)
FROM summed
LEFT JOIN trace.string AS name ON name.text_id = summed.name_id
LEFT JOIN trace.string AS type ON type.text_id = summed.type_id
LEFT JOIN trace.string AS core ON core.text_id = summed.core_id
LEFT JOIN trace.string AS shapes ON shapes.text_id = summed.input_shapes_id
LEFT JOIN trace.string AS types ON types.text_id = summed.input_types_id
QUALIFY is_chosen(name.text) OR is_chosen(type.text)
ORDER BY summed.total_ns DESC, summed.kind, name.text, type.text, core.text, shapes.text, types.text
