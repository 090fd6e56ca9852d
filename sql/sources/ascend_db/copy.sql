-- Its bytes and direction are in MEMCPY_INFO, which versions before 2025 do not write. Communication operators copy too: on a
-- stream whose tasks COMMUNICATION_TASK_INFO names, and on streams of their own, which it leaves out (910A). Such a stream only
-- copies, reduces and notifies other streams, and works while an operator runs.
-- A profile has few types of tasks: to look at that of each task takes four times as long.
WITH type AS (
    SELECT
        text_id AS taskType,
        text IN ('MEMCPY_ASYNC', 'PCIE_DMA_SQE') AS copies,
        is_task_between_streams(text) AS is_between_streams,
        starts_with(type_of_task(text), 'NOTIFY') AS notifies
    FROM trace.string
    WHERE text_id IN (SELECT taskType FROM raw.task)
),
task AS (
    SELECT
        task.*,
        type.is_between_streams,
        type.notifies,
        memcpy_info.size,
        memcpy_info.memcpyOperation,
        coalesce(type.copies, false) OR memcpy_info.globalTaskId IS NOT NULL AS is_copy
    FROM raw.task AS task
    LEFT JOIN type USING (taskType)
    LEFT JOIN raw.memcpy_info USING (globalTaskId)
    WHERE is_device_time(task.startNs, task.endNs)
),
operator AS (
    SELECT startNs, max(max(endNs)) OVER (ORDER BY startNs) AS reached_ns
    FROM raw.communication_op
    WHERE is_device_time(startNs, endNs)
    GROUP BY startNs
),
between_streams AS (
    SELECT deviceId, streamId
    FROM task
    WHERE EXISTS (FROM operator)
    GROUP BY deviceId, streamId
    HAVING bool_or(is_copy)
       AND bool_and(is_copy OR coalesce(is_between_streams, false))
       AND bool_or(notifies)
),
stream_of_operators AS (
    SELECT DISTINCT task.deviceId, task.streamId
    FROM task
    JOIN between_streams USING (deviceId, streamId)
    ASOF JOIN operator ON operator.startNs <= task.startNs
    WHERE task.notifies AND task.endNs <= operator.reached_ns
),
copy AS (
    SELECT task.*
    FROM task
    ANTI JOIN stream_of_operators
        ON stream_of_operators.streamId = task.streamId AND stream_of_operators.deviceId = task.deviceId
    WHERE task.is_copy
      AND task.globalTaskId NOT IN (
          SELECT globalTaskId
          FROM raw.communication_task_info
          WHERE globalTaskId IS NOT NULL
      )
      -- Where a database holds several devices, rows that name no device belong to the first one.
      AND (
          getvariable('device_id') IS NULL
          OR coalesce(task.deviceId, getvariable('first_device_id')) = getvariable('device_id')
      )
),
operation AS (
    SELECT id, min(name) AS name
    FROM raw.enum_memcpy_operation
    GROUP BY id
),
-- A row of CONNECTION_IDS links a launch with its op.
linked_op AS (
    SELECT link.connectionId, min(op.row_id) AS op_id
    FROM raw.connection_ids AS link
    SEMI JOIN copy ON copy.connectionId = link.connectionId
    JOIN raw.framework_op AS op ON op.connectionId = link.id
    WHERE is_host_time(op.startNs, op.endNs)
    GROUP BY link.connectionId
)
SELECT
    copy.row_id AS copy_id,
    NULL::BIGINT AS kernel_id,
    linked_op.op_id,
    nullif(copy.connectionId, -1) AS launch_id,
    copy.deviceId AS device_id,
    nullif(copy.streamId, 4294967295) AS stream_id,
    copy.startNs AS start_ns,
    copy.endNs AS end_ns,
    copy.endNs - copy.startNs AS duration_ns,
    direction_of_memory_copy(operation.name)
        ::ENUM('host to device', 'device to host', 'device to device', 'host to host', 'fill', 'other') AS direction,
    nullif(greatest(copy.size, -1), -1) AS size_bytes,
    NULL::ENUM('pageable', 'pinned') AS host_memory
FROM copy
LEFT JOIN operation ON operation.id = copy.memcpyOperation
LEFT JOIN linked_op ON linked_op.connectionId = nullif(copy.connectionId, -1)
