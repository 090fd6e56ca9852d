-- torch_npu can insert the rows of a table of names twice.
WITH data_type AS (
    SELECT id, min(name) AS name
    FROM raw.enum_data_type
    GROUP BY id
    HAVING count(DISTINCT name) = 1
),
recorded_group AS (
    SELECT group_name, count(DISTINCT global_rank) AS group_size
    FROM trace.parallel_group
    GROUP BY group_name
)
SELECT
    kernel.kernel_id,
    name_without_group(name.text) AS short_name,
    coalesce(type.text, type_of_communication(name.text)) AS operator_type,
    operation_of_communication(operator_type) AS operation,
    communication.groupName AS group_name_id,
    communication.algType AS algorithm_id,
    if(data_type.name IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, data_type.name) AS data_type,
    communication.count AS element_count,
    bytes_of_communication(
        operation,
        communication.count,
        bytes_of_data_type(data_type.name),
        coalesce(if(communication.rankSize BETWEEN 1 AND 4294967294, communication.rankSize, NULL), recorded_group.group_size)
    )::BIGINT AS size_bytes,
    if(communication.rankSize BETWEEN 1 AND 4294967294, communication.rankSize, NULL) AS group_size
FROM raw.communication_op AS communication
JOIN trace.kernel ON kernel.kernel_id = 2 * communication.row_id + 1
LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
LEFT JOIN trace.string AS type ON type.text_id = kernel.type_id
LEFT JOIN data_type ON data_type.id = communication.dataType
LEFT JOIN trace.string AS group_name ON group_name.text_id = communication.groupName
LEFT JOIN recorded_group ON recorded_group.group_name = group_name.text
