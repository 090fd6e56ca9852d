SELECT kernel.kernel_id, communication.groupName AS group_name_id
FROM raw.communication_op AS communication
JOIN trace.kernel ON kernel.kernel_id = 2 * communication.row_id + 1
