-- A kernel carries the correlation of its launch, which is not in the file where it came before the recording began; all
-- kernels of a replayed graph carry that of the launch of the graph. The graph is in the upper half of the id of a node; both
-- are 0 outside graphs. The grid of a kernel counts blocks; that of hipExtModuleLaunchKernel counts threads.
WITH string_of_name AS (FROM raw.string WHERE text_id IN (SELECT name FROM raw.device_work)),
name_of_kernel AS (FROM names_of_gpu_kernels(string_of_name)),
operation AS (
    SELECT text_id AS collective, operation_of_collective(text, NULL) AS operation
    FROM raw.string
    WHERE text_id IN (SELECT collective FROM raw.device_work)
),
launch AS (
    SELECT
        correlation,
        bool_or(contains(string.text, 'GraphLaunch')) AS is_of_graph,
        bool_or(regexp_matches(string.text, '^hip(Ext|Hcc)ModuleLaunchKernel')) AS counts_threads
    FROM raw.runtime_call
    LEFT JOIN raw.string ON string.text_id = runtime_call.name
    WHERE correlation <> 0
    GROUP BY correlation
),
-- A launch puts one kernel on the device, unless it replays a graph: a number that all kernels have is that of none.
of_all AS (
    SELECT min(correlation) AS correlation
    FROM raw.device_work
    WHERE is_kernel AND correlation <> 0
    HAVING count(*) > 10 AND min(correlation) = max(correlation) AND count(nullif(coalesce(graph_id, graph_node_id), 0)) = 0
),
work AS (
    SELECT
        device_work.*,
        count_of(numbers_of(grid)) // nullif(if(coalesce(launch.counts_threads, false), count_of(numbers_of(block)), 1), 0)
            AS block_num,
        name_of_kernel.type_id,
        name_of_kernel.is_matrix,
        name_of_kernel.fp32_as,
        if(of_all.correlation IS NOT NULL AND NOT coalesce(launch.is_of_graph, true), NULL, nullif(correlation, 0))
            AS launch_id,
        coalesce(
            nullif(graph_id, 0), nullif(graph_node_id, 0) >> 32, if(launch.is_of_graph, launch.correlation, NULL)
        ) AS model_id,
        CASE
            WHEN NOT is_kernel THEN 'copy'
            -- What the host says of a kernel comes before its name.
            WHEN collective IS NOT NULL OR named_collective.kernel_id IS NOT NULL THEN 'communication'
            ELSE coalesce(family.kind::VARCHAR, 'compute')
        END AS kind,
        CASE coalesce(operation.operation, named_collective.operation, name_of_kernel.operation)
            WHEN 'send' THEN 'send'
            WHEN 'receive' THEN 'receive'
            WHEN 'sendrecv' THEN 'both'
        END AS direction
    FROM raw.device_work
    LEFT JOIN name_of_kernel USING (name)
    LEFT JOIN trace.kernel_family AS family ON family.name_id = device_work.name
    LEFT JOIN operation USING (collective)
    LEFT JOIN launch USING (correlation)
    LEFT JOIN of_all ON of_all.correlation = device_work.correlation AND is_kernel
    LEFT JOIN trace.named_collective ON named_collective.kernel_id = device_work.event_id
)
FROM kernels_of_gpu(work)
