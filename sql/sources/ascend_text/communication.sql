-- communication.json names the group of each operator. trace_view.json has a row of threads for each group; older writers give
-- it a number, not the name.
WITH group_of_operator AS (
    SELECT operator, min(group_name) AS group_name
    FROM raw.communication_group
    GROUP BY operator
),
group_row AS (
    SELECT pid, tid, min(group_name) AS group_name
    FROM raw.thread
    GROUP BY pid, tid
),
row_of_group AS (
    SELECT communication_op.event_id, group_row.group_name
    FROM raw.communication_op
    JOIN group_row USING (pid, tid)
),
-- communication.json names a group by a hash of its name.
recorded_group AS (
    SELECT unnest([group_name, hash_of_group(group_name)]) AS group_name, count(DISTINCT global_rank) AS group_size
    FROM trace.parallel_group
    GROUP BY group_name
)
SELECT
    kernel.kernel_id,
    name_without_group(name.text) AS short_name,
    coalesce(type.text, type_of_communication(name.text)) AS operator_type,
    operation_of_communication(operator_type) AS operation,
    coalesce(group_of_operator.group_name, row_of_group.group_name) AS group_name_id,
    communication_op.algorithm AS algorithm_id,
    if(communication_op.data_type IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, communication_op.data_type) AS data_type,
    communication_op.element_count,
    bytes_of_communication(
        operation,
        communication_op.element_count,
        bytes_of_data_type(communication_op.data_type),
        coalesce(nullif(greatest(communication_op.rank_size, 0), 0), recorded_group.group_size)
    )::BIGINT AS size_bytes,
    nullif(greatest(communication_op.rank_size, 0), 0) AS group_size
FROM trace.kernel
LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
LEFT JOIN trace.string AS type ON type.text_id = kernel.type_id
LEFT JOIN group_of_operator ON group_of_operator.operator = kernel.name_id
LEFT JOIN raw.communication_op ON communication_op.event_id = kernel.kernel_id
LEFT JOIN row_of_group ON row_of_group.event_id = kernel.kernel_id
LEFT JOIN trace.string AS group_name ON group_name.text_id = coalesce(group_of_operator.group_name, row_of_group.group_name)
LEFT JOIN recorded_group ON recorded_group.group_name = group_name.text
WHERE kernel.kind = 'communication'
