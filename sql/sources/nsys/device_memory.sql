SELECT device_id, max(memory_bytes) AS memory_bytes
FROM raw.device
WHERE memory_bytes > 0
GROUP BY device_id
