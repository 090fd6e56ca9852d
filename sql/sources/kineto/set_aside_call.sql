WITH timed AS (
    SELECT 'calls of CUDA or HIP' AS what, start_ns, end_ns FROM raw.runtime_call
    UNION ALL
    SELECT 'Python functions', start_ns, end_ns FROM raw.python_call
)
SELECT
    what,
    CASE WHEN end_ns < start_ns THEN 'they end before they start' ELSE 'they have no time' END AS reason,
    count(*) AS row_count
FROM timed
WHERE (end_ns >= start_ns) IS NOT TRUE
GROUP BY what, reason
ORDER BY what, reason
