SELECT op_id, launch_id, tid, name AS name_id, is_op, start_ns, end_ns
FROM raw.replayed_op
