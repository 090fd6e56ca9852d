SELECT
    row_id AS op_id,
    globalTid AS tid,
    name AS name_id,
    startNs AS start_ns,
    endNs AS end_ns,
    nullif(sequenceNumber, -1) AS sequence_number,
    fwdThreadId AS forward_thread_id,
    inputShapes AS input_shapes_id,
    inputDtypes AS input_types_id
FROM raw.framework_op
WHERE endNs >= startNs
