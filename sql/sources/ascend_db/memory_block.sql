-- OP_MEMORY has the blocks of the framework, which have a stream and the active total, and those of the graph engine, which
-- have neither; NPU_OP_MEM has the thread of these.
WITH library_thread AS (
    SELECT operatorName AS name, timestampNs AS allocationTime, size, deviceId, min(globalTid) AS tid
    FROM raw.npu_op_mem
    GROUP BY ALL
),
block AS (
    SELECT *, streamPtr IS NULL AND allocationTotalActive IS NULL AS is_of_library
    FROM raw.op_memory
    WHERE is_size(size) AND is_lifetime(allocationTime, releaseTime)
)
SELECT
    block.row_id AS block_id,
    if(is_of_library, 'GE', 'PTA') AS component,
    if(is_of_library, 'operators', 'framework')::ENUM('framework', 'operators') AS role,
    deviceId AS device_id,
    block.streamPtr AS stream_id,
    if(is_of_library, library_thread.tid, NULL) AS tid,
    name AS name_id,
    size AS size_bytes,
    allocationTime AS allocated_ns,
    block.releaseTime AS released_ns,
    block.activeReleaseTime AS reusable_ns
FROM block
LEFT JOIN library_thread USING (name, allocationTime, size, deviceId)
-- Where a database holds several devices, rows that name no device belong to the first one.
WHERE getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id')
