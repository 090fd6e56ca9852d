-- From the profile of the same process beside the snapshot.
SELECT
    op_id,
    tid,
    text_id(name) AS name_id,
    start_ns,
    end_ns,
    duration_ns,
    is_step,
    sequence_number,
    forward_thread_id,
    text_id(input_shapes) AS input_shapes_id,
    text_id(input_types) AS input_types_id
FROM raw.beside_op
