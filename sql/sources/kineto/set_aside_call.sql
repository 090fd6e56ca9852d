WITH timed AS (
    SELECT 'calls of CUDA or HIP' AS what, start_ns, end_ns FROM raw.runtime_call
    UNION ALL
    SELECT 'Python functions', start_ns, end_ns FROM raw.python_call
)
SELECT
    what,
    why_set_aside(start_ns, end_ns) AS reason,
    count(*) AS row_count
FROM timed
WHERE (end_ns >= start_ns) IS NOT TRUE
GROUP BY what, reason
ORDER BY what, reason
