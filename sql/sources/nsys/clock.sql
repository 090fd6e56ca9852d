SELECT device_id, start_ns, clock_mhz
FROM raw.clock_sample
WHERE clock_mhz > 0
