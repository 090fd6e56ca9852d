WITH rejected AS (
    SELECT
        'blocks of memory' AS what,
        deviceId,
        allocationTime AS start_ns,
        coalesce(releaseTime, allocationTime) AS end_ns,
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
        CASE
            WHEN is_moment(timestamp) IS NOT TRUE THEN why_not_alive(timestamp, timestamp)
            WHEN NOT are_totals(totalAllocated, totalReserved, totalActive) THEN 'they are not possible'
        END
    FROM raw.memory_record
),
counted AS (
    SELECT
        *,
        threshold_of(reason, getvariable('host_longest_ns')) AS threshold_ns,
        time_set_aside(reason, start_ns, end_ns) AS time_ns
    FROM rejected
    WHERE reason IS NOT NULL
)
SELECT what, reason, max(threshold_ns) AS threshold_ns, count(*) AS row_count, TRY_CAST(sum(time_ns) AS BIGINT) AS time_ns
FROM counted
WHERE getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id')
GROUP BY what, reason
ORDER BY what, reason
