SELECT
    event_id AS op_id,
    thread_id(pid, tid) AS tid,
    name AS name_id,
    start_ns,
    end_ns,
    end_ns - start_ns AS duration_ns,
    coalesce(name IN (SELECT text_id FROM trace.string WHERE is_name_of_step(text)), false) AS is_step,
    nullif(sequence_number, -1) AS sequence_number,
    forward_thread_id,
    input_dims AS input_shapes_id,
    input_types AS input_types_id
FROM raw.cpu_op
WHERE is_host_time(start_ns, end_ns)
