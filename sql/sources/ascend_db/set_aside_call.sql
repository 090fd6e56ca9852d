WITH timed AS (
    SELECT 'calls into CANN' AS what, startNs, endNs FROM raw.cann_api
    UNION ALL
    SELECT 'Python functions', startNs, endNs FROM raw.python_call
    UNION ALL
    SELECT 'garbage collections', startNs, endNs FROM raw.gc_record
    UNION ALL
    SELECT 'ends of the task queue', startNs, endNs FROM raw.enqueue
    UNION ALL
    SELECT 'ends of the task queue', startNs, endNs FROM raw.dequeue
)
SELECT
    what,
    why_set_aside(startNs, endNs) AS reason,
    count(*) AS row_count
FROM timed
WHERE (endNs >= startNs) IS NOT TRUE
GROUP BY what, reason
ORDER BY what, reason
