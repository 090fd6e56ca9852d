WITH rejected_row AS (
    SELECT 'ops' AS what, getvariable('host_longest_ns') AS longest_ns, start_ns, end_ns
    FROM raw.cpu_op
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'module calls', getvariable('host_longest_ns'), start_ns, end_ns
    FROM raw.module_call
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'mstx ranges', getvariable('host_longest_ns'), start_ns, end_ns
    FROM raw.mstx
    WHERE event_type IN ('push/pop', 'start/end') AND is_host_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'mstx marks', getvariable('host_longest_ns'), start_ns, start_ns
    FROM raw.mstx
    WHERE event_type IN ('marker', 'marker_ex') AND is_host_time(start_ns, start_ns) IS NOT TRUE
    UNION ALL
    SELECT 'intervals of the Overlap Analysis', getvariable('device_longest_ns'), start_ns, end_ns
    FROM raw.overlap
    SEMI JOIN (FROM raw.process WHERE name = 'Overlap Analysis') AS process USING (pid)
    WHERE is_device_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'tasks on the device', getvariable('device_longest_ns'), start_ns, end_ns
    FROM raw.device_task
    WHERE is_device_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'communication operators', getvariable('device_longest_ns'), start_ns, end_ns
    FROM raw.communication_op
    WHERE is_device_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'rows of kernel_details.csv', getvariable('device_longest_ns'), start_ns, TRY(start_ns + duration_ns)
    FROM raw.kernel_detail
    WHERE is_device_time(start_ns, TRY(start_ns + duration_ns)) IS NOT TRUE
)
FROM set_aside_of(rejected_row, why_set_aside(start_ns, end_ns, longest_ns))
ORDER BY what, reason
