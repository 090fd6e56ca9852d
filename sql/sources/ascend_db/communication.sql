SELECT
    kernel.kernel_id,
    communication.groupName AS group_name_id,
    communication.algType AS algorithm_id,
    if(enum_data_type.name IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, enum_data_type.name) AS data_type,
    communication.count AS element_count
FROM raw.communication_op AS communication
JOIN trace.kernel ON kernel.kernel_id = 2 * communication.row_id + 1
LEFT JOIN raw.enum_data_type ON enum_data_type.id = communication.dataType
