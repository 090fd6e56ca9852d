SELECT DISTINCT
    kernel.op_id,
    kernel.launch_id,
    -kernel.replay_id AS tid,
    NULL::BIGINT AS parent_id,
    op.name_id,
    node.op_id IS NOT NULL AS is_op,
    NULL::BIGINT AS input_shapes_id,
    kernel.base_ns + node.first_number AS start_ns,
    kernel.base_ns + node.last_number AS end_ns
FROM trace.captured_kernel AS kernel
JOIN trace.captured_node AS node ON node.pid = kernel.pid AND node.node_id = kernel.node_id AND NOT node.is_range
LEFT JOIN trace.op ON op.op_id = node.op_id
