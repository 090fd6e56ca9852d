WITH rejected_row AS (
    SELECT 'calls of CUDA' AS what, getvariable('host_longest_ns') AS longest_ns, start_ns, end_ns
    FROM raw.runtime_call
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
)
FROM set_aside_of(rejected_row, why_set_aside(start_ns, end_ns, longest_ns))
ORDER BY what, reason
