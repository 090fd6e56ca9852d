WITH rejected_row AS (
    SELECT
        'rows of operator_memory.csv' AS what,
        allocated_ns AS start_ns,
        coalesce(released_ns, allocated_ns) AS end_ns,
        getvariable('host_longest_ns') AS longest_ns,
        CASE
            WHEN is_size(bytes_of(size_kib, 1024)) IS NOT TRUE THEN 'they have no possible size'
            WHEN is_lifetime(allocated_ns, released_ns) IS NOT TRUE THEN why_not_alive(allocated_ns, released_ns)
        END AS reason
    FROM raw.memory_block
    UNION ALL
    SELECT
        'rows of memory_record.csv',
        time_ns,
        time_ns,
        getvariable('host_longest_ns'),
        CASE
            WHEN is_moment(time_ns) IS NOT TRUE THEN why_not_alive(time_ns, time_ns)
            WHEN NOT are_totals(allocated_mib * 1048576, reserved_mib * 1048576, active_mib * 1048576)
                THEN 'they are not possible'
        END
    FROM raw.memory_record
)
FROM set_aside_of(rejected_row, reason)
ORDER BY what, reason
