WITH placed_op AS (
    SELECT DISTINCT
        kernel.replay_id,
        kernel.launch_id,
        node.op_id,
        kernel.base_ns + node.first_number AS start_ns,
        kernel.base_ns + node.last_number AS end_ns
    FROM trace.captured_kernel AS kernel
    JOIN trace.captured_node AS node ON node.pid = kernel.pid AND node.node_id = kernel.node_id
    WHERE NOT node.is_range
)
SELECT
    -(2 * row_number() OVER (ORDER BY placed_op.replay_id, placed_op.start_ns) + 1) AS op_id,
    placed_op.launch_id,
    -placed_op.replay_id AS tid,
    op.name_id,
    placed_op.op_id IS NOT NULL AS is_op,
    placed_op.start_ns,
    placed_op.end_ns
FROM placed_op
LEFT JOIN trace.op ON op.op_id = placed_op.op_id
