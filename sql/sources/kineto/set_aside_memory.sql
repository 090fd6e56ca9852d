-- Events of the host's memory are no damage.
WITH rejected AS (
    SELECT CASE
        WHEN (start_ns >= 0) IS NOT TRUE THEN 'they have no time'
        WHEN device_type IS NULL THEN 'they name no device'
        WHEN address IS NULL OR is_change(size_bytes) IS NOT TRUE THEN 'they have no address or no possible size'
        WHEN NOT are_totals(allocated_bytes, reserved_bytes, NULL) THEN 'their totals are not possible'
    END AS reason
    FROM raw.memory_event
    WHERE device_type IS DISTINCT FROM 0
)
SELECT 'memory events' AS what, reason, count(*) AS row_count
FROM rejected
WHERE reason IS NOT NULL
GROUP BY reason
ORDER BY reason
