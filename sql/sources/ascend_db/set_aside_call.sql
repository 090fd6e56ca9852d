WITH rejected AS (
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
),
counted AS (
    SELECT
        what,
        why_set_aside(start_ns, end_ns, longest_ns) AS reason,
        threshold_of(reason, longest_ns) AS threshold_ns,
        time_set_aside(reason, start_ns, end_ns) AS time_ns
    FROM rejected
)
SELECT what, reason, max(threshold_ns) AS threshold_ns, count(*) AS row_count, TRY_CAST(sum(time_ns) AS BIGINT) AS time_ns
FROM counted
GROUP BY what, reason
ORDER BY what, reason
