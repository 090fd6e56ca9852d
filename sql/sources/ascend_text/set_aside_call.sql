WITH rejected_row AS (
    SELECT 'calls into CANN' AS what, getvariable('host_longest_ns') AS longest_ns, start_ns, end_ns
    FROM raw.host_api
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'Python functions', getvariable('host_longest_ns'), start_ns, end_ns
    FROM raw.python_call
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'garbage collections', getvariable('host_longest_ns'), start_ns, end_ns
    FROM raw.gc
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'ends of the task queue', getvariable('host_longest_ns'), start_ns, end_ns
    FROM raw.queue_call
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
)
FROM set_aside_of(rejected_row, why_set_aside(start_ns, end_ns, longest_ns))
ORDER BY what, reason
