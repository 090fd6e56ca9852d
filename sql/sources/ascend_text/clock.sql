SELECT device_id, start_ns, min(clock_mhz) AS clock_mhz
FROM raw.core_clock
LEFT JOIN trace.device_process USING (pid)
WHERE start_ns IS NOT NULL AND clock_mhz > 0
GROUP BY device_id, start_ns
