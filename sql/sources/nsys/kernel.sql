-- A kernel carries the correlation of its launch, which is unique in its process; all kernels of a replayed graph carry that of
-- the launch of the graph. The graph is in the upper half of the id of a node; both are 0 outside graphs.
WITH name_of_kernel AS (
    SELECT
        text_id AS name,
        text_id(function_of_kernel(text)) AS type_id,
        operation_of_collective(NULL, text) AS operation,
        multiplies_matrices(text) AS is_matrix,
        fp32_of_kernel(text) AS fp32_as
    FROM raw.string
    WHERE text_id IN (SELECT name FROM raw.device_work)
),
replay AS (
    SELECT DISTINCT launch_of(pid, correlation) AS launch_id
    FROM raw.runtime_call
    WHERE name IN (SELECT text_id FROM raw.string WHERE contains(text, 'GraphLaunch'))
),
work AS (
    SELECT
        device_work.*,
        name_of_kernel.type_id,
        name_of_kernel.is_matrix,
        name_of_kernel.fp32_as,
        replay.launch_id AS replay_id,
        CASE
            WHEN NOT is_kernel THEN 'copy'
            -- What the host says of a kernel comes before its name.
            WHEN named_collective.kernel_id IS NOT NULL THEN 'communication'
            ELSE coalesce(family.kind::VARCHAR, 'compute')
        END AS kind,
        CASE coalesce(named_collective.operation, name_of_kernel.operation)
            WHEN 'send' THEN 'send'
            WHEN 'receive' THEN 'receive'
            WHEN 'sendrecv' THEN 'both'
        END AS direction
    FROM raw.device_work
    LEFT JOIN name_of_kernel USING (name)
    LEFT JOIN trace.kernel_family AS family ON family.name_id = device_work.name
    LEFT JOIN replay ON replay.launch_id = launch_of(device_work.pid, device_work.correlation)
    LEFT JOIN trace.named_collective ON named_collective.kernel_id = device_work.event_id
)
SELECT
    event_id AS kernel_id,
    kind::ENUM('compute', 'communication', 'copy', 'schedule') AS kind,
    name AS name_id,
    type_id,
    NULL::BIGINT AS core_id,
    device_id,
    stream_id,
    NULL::BIGINT AS task_id,
    coalesce(nullif(graph_id, 0), nullif(graph_node_id, 0) >> 32, replay_id) AS model_id,
    start_ns,
    end_ns,
    NULL::BIGINT AS step_id,
    launch_of(pid, correlation) AS launch_id,
    block_count AS block_num,
    NULL::BIGINT AS mix_block_num,
    NULL::BIGINT AS input_shapes_id,
    NULL::BIGINT AS input_types_id,
    NULL::BIGINT AS input_formats_id,
    NULL::BIGINT AS output_shapes_id,
    NULL::BIGINT AS output_types_id,
    NULL::BIGINT AS output_formats_id,
    event_id AS pmu_id,
    NULL::BIGINT AS hf32_eligible_id,
    if(type_id IS NULL, NULL, 'name')::ENUM('profile', 'name') AS type_from,
    end_ns - start_ns AS duration_ns,
    if(kind = 'communication', direction, NULL)::ENUM('send', 'receive', 'both') AS direction,
    CASE WHEN kind = 'copy' THEN 'copy' WHEN kind = 'compute' AND is_matrix THEN 'matrix' END
        ::ENUM('matrix', 'vector', 'matrix and vector', 'copy', 'cpu') AS engine,
    fp32_as::ENUM('fp32', 'tf32') AS fp32_as
FROM work
WHERE kind <> 'wait' AND is_device_time(start_ns, end_ns)
