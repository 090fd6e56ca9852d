WITH rejected_row AS (
    SELECT 'ops' AS what, getvariable('host_longest_ns') AS longest_ns, start_ns, end_ns
    FROM raw.nvtx_op
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'NVTX ranges', getvariable('host_longest_ns'), start_ns, end_ns
    FROM raw.nvtx_range
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'kernels and copies', getvariable('device_longest_ns'), start_ns, end_ns
    FROM raw.device_work
    WHERE is_device_time(start_ns, end_ns) IS NOT TRUE
)
FROM set_aside_of(rejected_row, why_set_aside(start_ns, end_ns, longest_ns))
ORDER BY what, reason
