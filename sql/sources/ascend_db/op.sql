SELECT
    row_id AS op_id,
    globalTid AS tid,
    name AS name_id,
    startNs AS start_ns,
    endNs AS end_ns,
    endNs - startNs AS duration_ns,
    coalesce(name IN (SELECT text_id FROM trace.string WHERE is_name_of_step(text)), false) AS is_step,
    nullif(sequenceNumber, -1) AS sequence_number,
    fwdThreadId AS forward_thread_id,
    inputShapes AS input_shapes_id,
    inputDtypes AS input_types_id
FROM raw.framework_op
WHERE is_host_time(startNs, endNs)
