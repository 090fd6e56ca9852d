SELECT op_id, launch_id, tid, name AS name_id, start_ns, end_ns
FROM raw.replayed_op
