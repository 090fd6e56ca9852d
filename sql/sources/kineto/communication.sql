SELECT
    kernel.kernel_id,
    name.text AS short_name,
    coalesce(
        operation_of_collective(collective.text, NULL),
        named_collective.operation,
        operation_of_collective(NULL, name.text)
    ) AS operator_type,
    operator_type AS operation,
    device_work.group_name AS group_name_id,
    NULL::BIGINT AS algorithm_id,
    device_work.data_type,
    device_work.element_count,
    -- More elements than this are in no memory.
    CASE
        WHEN greatest(device_work.element_count, device_work.output_count) BETWEEN 0 AND 1099511627776
            THEN greatest(device_work.element_count, device_work.output_count) * bytes_of_type(device_work.data_type)
    END AS size_bytes,
    if(device_work.group_size > 0, device_work.group_size, NULL) AS group_size
FROM trace.kernel
JOIN raw.device_work ON device_work.event_id = kernel.kernel_id
LEFT JOIN trace.named_collective USING (kernel_id)
LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
LEFT JOIN trace.string AS collective ON collective.text_id = device_work.collective
WHERE kernel.kind = 'communication'
