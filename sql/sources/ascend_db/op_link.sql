-- A row of CONNECTION_IDS is a launch when kernels carry its value; the other rows are hand-overs between host threads.
SELECT op.row_id AS op_id, link.connectionId AS launch_id
FROM raw.connection_ids AS link
SEMI JOIN trace.kernel ON kernel.launch_id = link.connectionId
JOIN raw.framework_op AS op ON op.connectionId = link.id
WHERE is_host_time(op.startNs, op.endNs)
