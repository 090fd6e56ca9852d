WITH rejected AS (
    SELECT
        'rows of operator_memory.csv' AS what,
        allocated_ns AS start_ns,
        coalesce(released_ns, allocated_ns) AS end_ns,
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
        CASE
            WHEN is_moment(time_ns) IS NOT TRUE THEN why_not_alive(time_ns, time_ns)
            WHEN NOT are_totals(allocated_mib * 1048576, reserved_mib * 1048576, active_mib * 1048576)
                THEN 'they are not possible'
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
GROUP BY what, reason
ORDER BY what, reason
