WITH rejected AS (
    SELECT
        'rows of operator_memory.csv' AS what,
        CASE
            WHEN is_size(bytes_of(size_kib, 1024)) IS NOT TRUE THEN 'they have no possible size'
            WHEN is_lifetime(allocated_ns, released_ns) IS NOT TRUE THEN why_set_aside(allocated_ns, released_ns)
        END AS reason
    FROM raw.memory_block
    UNION ALL
    SELECT
        'rows of memory_record.csv',
        CASE
            WHEN (time_ns >= 0) IS NOT TRUE THEN 'they have no time'
            WHEN NOT are_totals(allocated_mib * 1048576, reserved_mib * 1048576, active_mib * 1048576)
                THEN 'they are not possible'
        END
    FROM raw.memory_record
)
SELECT what, reason, count(*) AS row_count
FROM rejected
WHERE reason IS NOT NULL
GROUP BY what, reason
ORDER BY what, reason
