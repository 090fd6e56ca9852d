WITH rejected_row AS (
    SELECT
        'blocks of memory' AS what,
        deviceId,
        allocationTime AS start_ns,
        coalesce(releaseTime, allocationTime) AS end_ns,
        getvariable('host_longest_ns') AS longest_ns,
        CASE
            WHEN is_size(size) IS NOT TRUE THEN 'they have no possible size'
            WHEN is_lifetime(allocationTime, releaseTime) IS NOT TRUE THEN why_not_alive(allocationTime, releaseTime)
        END AS reason
    FROM raw.op_memory
    UNION ALL
    SELECT
        'totals of memory',
        deviceId,
        timestamp,
        timestamp,
        getvariable('host_longest_ns'),
        CASE
            WHEN is_moment(timestamp) IS NOT TRUE THEN why_not_alive(timestamp, timestamp)
            WHEN NOT are_totals(totalAllocated, totalReserved, totalActive) THEN 'they are not possible'
        END
    FROM raw.memory_record
),
rejected_of_device AS (
    FROM rejected_row
    WHERE getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id')
)
FROM set_aside_of(rejected_of_device, reason)
ORDER BY what, reason
