SELECT op_id, launch_id, tid, parent_id, name AS name_id, is_op, input_dims AS input_shapes_id, start_ns, end_ns
FROM raw.replayed_op
