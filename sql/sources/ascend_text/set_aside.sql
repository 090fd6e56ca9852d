WITH timed AS (
    SELECT 'ops' AS what, start_ns, end_ns FROM raw.cpu_op
    UNION ALL
    SELECT 'module calls', start_ns, end_ns FROM raw.module_call
    UNION ALL
    SELECT 'mstx ranges', start_ns, end_ns FROM raw.mstx WHERE event_type IN ('push/pop', 'start/end')
    UNION ALL
    SELECT 'mstx marks', start_ns, start_ns FROM raw.mstx WHERE event_type IN ('marker', 'marker_ex')
    UNION ALL
    SELECT 'intervals of the Overlap Analysis', start_ns, end_ns
    FROM raw.overlap
    SEMI JOIN (FROM raw.process WHERE name = 'Overlap Analysis') AS process USING (pid)
    UNION ALL
    SELECT 'tasks on the device', start_ns, end_ns FROM raw.device_task
    UNION ALL
    SELECT 'communication operators', start_ns, end_ns FROM raw.communication_op
    UNION ALL
    SELECT 'rows of kernel_details.csv', start_ns, TRY(start_ns + duration_ns) FROM raw.kernel_detail
)
SELECT
    what,
    why_set_aside(start_ns, end_ns) AS reason,
    count(*) AS row_count
FROM timed
WHERE (end_ns >= start_ns) IS NOT TRUE
GROUP BY what, reason
ORDER BY what, reason
