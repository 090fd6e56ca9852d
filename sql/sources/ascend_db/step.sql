SELECT id AS step_id, startNs AS start_ns, endNs AS end_ns
FROM raw.step_time
WHERE is_host_time(startNs, endNs)
