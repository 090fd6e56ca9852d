-- A kernel carries the correlation of its launch, which is unique in its process; all kernels of a replayed graph carry that of
-- the launch of the graph. The graph is in the upper half of the id of a node; both are 0 outside graphs.
WITH string_of_name AS (FROM raw.string WHERE text_id IN (SELECT name FROM raw.device_work)),
name_of_kernel AS (FROM names_of_gpu_kernels(string_of_name)),
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
        launch_of(device_work.pid, device_work.correlation) AS launch_id,
        coalesce(nullif(graph_id, 0), nullif(graph_node_id, 0) >> 32, replay.launch_id) AS model_id,
        block_count AS block_num,
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
FROM kernels_of_gpu(work)
