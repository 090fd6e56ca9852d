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
    CASE WHEN end_ns < start_ns THEN 'they end before they start' ELSE 'they have no time' END AS reason,
    count(*) AS row_count
FROM timed
WHERE (end_ns >= start_ns) IS NOT TRUE
GROUP BY what, reason
ORDER BY what, reason
