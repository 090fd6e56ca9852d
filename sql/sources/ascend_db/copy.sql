-- Its bytes and direction are in MEMCPY_INFO, which versions before 2025 do not write. Communication operators copy too.
WITH copy AS (
    SELECT task.*, memcpy_info.size, memcpy_info.memcpyOperation
    FROM raw.task AS task
    LEFT JOIN trace.string AS type ON type.text_id = task.taskType
    LEFT JOIN raw.memcpy_info USING (globalTaskId)
    WHERE task.endNs >= task.startNs
      AND (type.text IN ('MEMCPY_ASYNC', 'PCIE_DMA_SQE') OR memcpy_info.globalTaskId IS NOT NULL)
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
    WHERE op.endNs >= op.startNs
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
    nullif(greatest(copy.size, -1), -1) AS size_bytes
FROM copy
LEFT JOIN operation ON operation.id = copy.memcpyOperation
LEFT JOIN linked_op ON linked_op.connectionId = nullif(copy.connectionId, -1)
