WITH name_of_wait AS (
    SELECT text_id, orders_stream_to_wait(text) AS is_call
    FROM trace.string
    WHERE orders_stream_to_wait(text) OR is_wait_of_stream(text)
)
SELECT nullif(task.streamId, 4294967295) AS stream_id, NULL::BIGINT AS tid, task.startNs AS start_ns, task.endNs AS end_ns
FROM raw.task AS task
JOIN name_of_wait ON name_of_wait.text_id = task.taskType
WHERE NOT name_of_wait.is_call
    AND is_device_time(task.startNs, task.endNs)
    AND (
        getvariable('device_id') IS NULL
        OR coalesce(task.deviceId, getvariable('first_device_id')) = getvariable('device_id')
    )
UNION ALL
SELECT NULL, call.globalTid, call.startNs, call.endNs
FROM raw.cann_api AS call
JOIN name_of_wait ON name_of_wait.text_id = call.name
WHERE name_of_wait.is_call AND is_host_time(call.startNs, call.endNs)
