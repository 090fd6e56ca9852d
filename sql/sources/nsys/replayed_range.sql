-- Where the graph is launched in a range that can be a module, the ranges around its capture are of that call, too.
WITH module_range AS (
    SELECT tid, start_ns, end_ns
    FROM trace.range
    WHERE (role = 'module' OR is_module_candidate) AND EXISTS (FROM trace.captured_kernel)
),
covered_time AS (
    SELECT part AS tid, start_ns, max(end_ns) AS end_ns
    FROM stretches(module_range, tid)
    GROUP BY part, start_ns
),
launch AS (
    SELECT launch_of(pid, correlation) AS launch_id, thread_id(pid, tid) AS tid, start_ns, end_ns
    FROM raw.runtime_call
    WHERE launch_of(pid, correlation) IN (SELECT launch_id FROM trace.captured_kernel)
),
launch_in_range AS (
    SELECT DISTINCT launch.launch_id
    FROM launch
    ASOF JOIN covered_time ON covered_time.tid = launch.tid AND covered_time.start_ns <= launch.start_ns
    WHERE covered_time.end_ns >= launch.end_ns
),
placed_range AS (
    SELECT DISTINCT
        kernel.replay_id,
        kernel.launch_id,
        node.range_id,
        kernel.base_ns + node.first_number AS start_ns,
        kernel.base_ns + node.last_number AS end_ns
    FROM trace.captured_kernel AS kernel
    JOIN trace.captured_node AS node ON node.pid = kernel.pid AND node.node_id = kernel.node_id
    WHERE node.is_range AND NOT (node.is_around AND kernel.launch_id IN (SELECT launch_id FROM launch_in_range))
)
SELECT
    -row_number() OVER (ORDER BY placed_range.replay_id, placed_range.start_ns) AS range_id,
    placed_range.launch_id,
    -placed_range.replay_id AS tid,
    if(range.role = 'module', 'module', NULL) AS role,
    range.is_module_candidate,
    if(range.role = 'module', NULL, range.domain_id) AS domain_id,
    range.name_id,
    false AS is_backward,
    placed_range.start_ns,
    placed_range.end_ns
FROM placed_range
JOIN trace.range USING (range_id)
