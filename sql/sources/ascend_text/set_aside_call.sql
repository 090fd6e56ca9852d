WITH timed AS (
    SELECT 'calls into CANN' AS what, start_ns, end_ns FROM raw.host_api
    UNION ALL
    SELECT 'Python functions', start_ns, end_ns FROM raw.python_call
    UNION ALL
    SELECT 'garbage collections', start_ns, end_ns FROM raw.gc
    UNION ALL
    SELECT 'ends of the task queue', start_ns, end_ns FROM raw.queue_call
)
SELECT
    what,
    why_set_aside(start_ns, end_ns) AS reason,
    count(*) AS row_count
FROM timed
WHERE (end_ns >= start_ns) IS NOT TRUE
GROUP BY what, reason
ORDER BY what, reason
