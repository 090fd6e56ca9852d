SELECT id AS step_id, startNs AS start_ns, endNs AS end_ns
FROM raw.step_time
WHERE endNs >= startNs
