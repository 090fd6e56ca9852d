-- Events of the host's memory are no damage.
WITH rejected_row AS (
    SELECT
        'memory events' AS what,
        start_ns,
        start_ns AS end_ns,
        getvariable('host_longest_ns') AS longest_ns,
        CASE
            WHEN is_moment(start_ns) IS NOT TRUE THEN why_not_alive(start_ns, start_ns)
            WHEN device_type IS NULL THEN 'they name no device'
            WHEN address IS NULL OR is_change(size_bytes) IS NOT TRUE THEN 'they have no address or no possible size'
            WHEN NOT are_totals(allocated_bytes, reserved_bytes, NULL) THEN 'their totals are not possible'
        END AS reason
    FROM raw.memory_event
    WHERE device_type IS DISTINCT FROM 0
)
FROM set_aside_of(rejected_row, reason)
ORDER BY what, reason
