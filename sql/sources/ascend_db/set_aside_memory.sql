WITH rejected AS (
    SELECT
        'blocks of memory' AS what,
        deviceId,
        CASE
            WHEN is_size(size) IS NOT TRUE THEN 'they have no possible size'
            WHEN is_lifetime(allocationTime, releaseTime) IS NOT TRUE THEN why_set_aside(allocationTime, releaseTime)
        END AS reason
    FROM raw.op_memory
    UNION ALL
    SELECT
        'totals of memory',
        deviceId,
        CASE
            WHEN (timestamp >= 0) IS NOT TRUE THEN 'they have no time'
            WHEN NOT are_totals(totalAllocated, totalReserved, totalActive) THEN 'they are not possible'
        END
    FROM raw.memory_record
)
SELECT what, reason, count(*) AS row_count
FROM rejected
WHERE reason IS NOT NULL
  AND (getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id'))
GROUP BY what, reason
ORDER BY what, reason
