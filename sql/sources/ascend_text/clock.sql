-- The process of a layer on the device is numbered host process * 1024 + layer * 32 + device.
SELECT pid & 31 AS device_id, start_ns, min(clock_mhz) AS clock_mhz
FROM raw.core_clock
WHERE start_ns IS NOT NULL AND clock_mhz > 0
GROUP BY device_id, start_ns
