SELECT
    event_id AS op_id,
    thread_id(pid, tid) AS tid,
    name AS name_id,
    start_ns,
    end_ns,
    nullif(sequence_number, -1) AS sequence_number,
    forward_thread_id,
    input_dims AS input_shapes_id,
    input_types AS input_types_id
FROM raw.cpu_op
WHERE end_ns >= start_ns
