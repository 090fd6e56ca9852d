-- Events of the host's memory are no damage.
WITH rejected_row AS (
    SELECT
        'memory events' AS what,
        start_ns,
        start_ns AS end_ns,
        getvariable('host_longest_ns') AS longest_ns,
        CASE
            WHEN is_moment(start_ns) IS NOT TRUE THEN why_not_alive(start_ns, start_ns)
            WHEN address IS NULL OR is_size(size_bytes) IS NOT TRUE THEN 'they have no address or no possible size'
        END AS reason
    FROM raw.memory_event
    WHERE is_memory_of_device(memory_kind)
)
FROM set_aside_of(rejected_row, reason)
ORDER BY what, reason
