WITH rejected_row AS (
    SELECT 'calls into CANN' AS what, getvariable('host_longest_ns') AS longest_ns, startNs AS start_ns, endNs AS end_ns
    FROM raw.cann_api
    WHERE is_host_time(startNs, endNs) IS NOT TRUE
    UNION ALL
    SELECT 'Python functions', getvariable('host_longest_ns'), startNs, endNs
    FROM raw.python_call
    WHERE is_host_time(startNs, endNs) IS NOT TRUE
    UNION ALL
    SELECT 'garbage collections', getvariable('host_longest_ns'), startNs, endNs
    FROM raw.gc_record
    WHERE is_host_time(startNs, endNs) IS NOT TRUE
    UNION ALL
    SELECT 'ends of the task queue', getvariable('host_longest_ns'), startNs, endNs
    FROM raw.enqueue
    WHERE is_host_time(startNs, endNs) IS NOT TRUE
    UNION ALL
    SELECT 'ends of the task queue', getvariable('host_longest_ns'), startNs, endNs
    FROM raw.dequeue
    WHERE is_host_time(startNs, endNs) IS NOT TRUE
)
FROM set_aside_of(rejected_row, why_set_aside(start_ns, end_ns, longest_ns))
ORDER BY what, reason
