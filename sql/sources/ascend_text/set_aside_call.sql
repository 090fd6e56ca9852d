WITH rejected AS (
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
