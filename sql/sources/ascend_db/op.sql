-- Queue hand-overs and Python frames share PYTORCH_API with the ops. Before 2024-08 there is no type column, but only ops
-- carry a sequence number (-1 for none).
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
FROM raw.pytorch_api
WHERE coalesce(type IN (50001, 50004), sequenceNumber IS NOT NULL) AND endNs >= startNs
