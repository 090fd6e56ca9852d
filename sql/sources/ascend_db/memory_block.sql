-- OP_MEMORY has the blocks of the framework, which have a stream and the active total, and those of the graph engine, which
-- have neither; NPU_OP_MEM has the thread of these. Databases of msprof alone have NPU_OP_MEM only: there an allocation and the
-- next event at its address are a block and its release.
WITH library_thread AS (
    SELECT operatorName AS name, timestampNs AS allocationTime, size, deviceId, min(globalTid) AS tid
    FROM raw.npu_op_mem
    GROUP BY ALL
),
block AS (
    SELECT *, streamPtr IS NULL AND allocationTotalActive IS NULL AS is_of_library
    FROM raw.op_memory
    WHERE is_size(size) AND is_lifetime(allocationTime, releaseTime)
),
library_event AS (
    SELECT
        event.*,
        type.value = 'allocate' AS is_allocation,
        coalesce(component.value, 'GE') AS component_name,
        lead(timestampNs) OVER at_address AS next_ns,
        lead(type.value) OVER at_address AS next_type
    FROM raw.npu_op_mem AS event
    JOIN raw.string_ids AS type ON type.id = event.type
    LEFT JOIN raw.string_ids AS component ON component.id = event.component
    WHERE NOT EXISTS (FROM raw.op_memory)
    WINDOW at_address AS (PARTITION BY event.deviceId, event.addr ORDER BY event.timestampNs, event.row_id)
),
found_block AS (
    SELECT
        row_id AS block_id,
        if(is_of_library, 'GE', 'PTA') AS component,
        if(is_of_library, 'operators', 'framework') AS role,
        deviceId AS device_id,
        streamPtr AS stream_id,
        if(is_of_library, library_thread.tid, NULL) AS tid,
        name AS name_id,
        size AS size_bytes,
        allocationTime AS allocated_ns,
        releaseTime AS released_ns,
        activeReleaseTime AS reusable_ns
    FROM block
    LEFT JOIN library_thread USING (name, allocationTime, size, deviceId)
    UNION ALL BY NAME
    SELECT
        row_id AS block_id,
        component_name AS component,
        if(component_name = 'PTA', 'framework', 'operators') AS role,
        deviceId AS device_id,
        globalTid AS tid,
        operatorName AS name_id,
        size AS size_bytes,
        timestampNs AS allocated_ns,
        if(next_type = 'release', next_ns, NULL) AS released_ns
    FROM library_event
    WHERE is_allocation AND is_size(size) AND is_moment(timestampNs)
)
SELECT
    block_id,
    component,
    role::ENUM('framework', 'operators', 'process') AS role,
    device_id,
    stream_id,
    tid,
    name_id,
    size_bytes,
    allocated_ns,
    released_ns,
    reusable_ns,
    NULL::BIGINT AS requested_bytes,
    NULL::BIGINT AS stack_id
FROM found_block
-- Where a database holds several devices, rows that name no device belong to the first one.
WHERE (getvariable('device_id') IS NULL OR coalesce(device_id, getvariable('first_device_id')) = getvariable('device_id'))
  AND NOT getvariable('memory_is_beside')
