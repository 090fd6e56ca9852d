-- torch_npu can insert the rows of a table of names twice.
WITH data_type AS (
    SELECT id, min(name) AS name
    FROM raw.enum_data_type
    GROUP BY id
    HAVING count(DISTINCT name) = 1
)
SELECT
    kernel.kernel_id,
    communication.groupName AS group_name_id,
    communication.algType AS algorithm_id,
    if(data_type.name IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, data_type.name) AS data_type,
    communication.count AS element_count
FROM raw.communication_op AS communication
JOIN trace.kernel ON kernel.kernel_id = 2 * communication.row_id + 1
LEFT JOIN data_type ON data_type.id = communication.dataType
