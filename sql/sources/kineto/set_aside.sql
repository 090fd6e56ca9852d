WITH timed AS (
    SELECT 'ops' AS what, start_ns, end_ns FROM raw.cpu_op
    UNION ALL
    SELECT 'module calls', start_ns, end_ns FROM raw.module_call
    UNION ALL
    SELECT 'ranges of record_function', start_ns, end_ns FROM raw.annotation
    UNION ALL
    SELECT 'kernels and copies', start_ns, end_ns FROM raw.device_work
)
SELECT
    what,
    why_set_aside(start_ns, end_ns) AS reason,
    count(*) AS row_count
FROM timed
WHERE (end_ns >= start_ns) IS NOT TRUE
GROUP BY what, reason
ORDER BY what, reason
