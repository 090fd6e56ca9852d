WITH launch AS (
    SELECT launch_of(pid, correlation) AS launch_id, min(start_ns) AS start_ns
    FROM raw.runtime_call
    WHERE correlation IS NOT NULL
    GROUP BY pid, correlation
),
node AS (
    SELECT pid, node_id, min(first_number) AS first_number, min(first_number) FILTER (NOT is_range) AS op_number
    FROM trace.captured_node
    GROUP BY pid, node_id
),
work AS (
    SELECT
        device_work.event_id AS kernel_id,
        node.pid,
        node.node_id,
        kernel.launch_id,
        kernel.start_ns,
        node.first_number,
        node.op_number
    FROM raw.device_work
    JOIN trace.kernel ON kernel.kernel_id = device_work.event_id
    JOIN node ON node.pid = device_work.pid AND node.node_id = device_work.graph_node_id
    WHERE kernel.launch_id IS NOT NULL
)
SELECT
    work.kernel_id,
    work.pid,
    work.node_id,
    work.launch_id,
    dense_rank() OVER (ORDER BY work.launch_id) AS replay_id,
    -(2 * dense_rank() OVER (ORDER BY work.launch_id, work.op_number) + 1) AS op_id,
    coalesce(launch.start_ns, min(work.start_ns) OVER replay) - min(work.first_number) OVER replay AS base_ns
FROM work
LEFT JOIN launch ON launch.launch_id = work.launch_id
WINDOW replay AS (PARTITION BY work.launch_id)
