SELECT deviceId AS device_id, timestampNs AS start_ns, min(freq) AS clock_mhz
FROM raw.aicore_freq
WHERE timestampNs IS NOT NULL AND freq > 0
GROUP BY deviceId, timestampNs
