SELECT
    CASE type
        WHEN 0 THEN 'computing'
        WHEN 1 THEN 'communication'
        WHEN 2 THEN 'communication_not_overlapped'
        WHEN 3 THEN 'free'
    END::ENUM('computing', 'communication', 'communication_not_overlapped', 'free') AS kind,
    deviceId AS device_id,
    startNs AS start_ns,
    endNs AS end_ns,
    endNs - startNs AS duration_ns
FROM raw.overlap_analysis
WHERE type BETWEEN 0 AND 3
  AND is_device_time(startNs, endNs)
  AND (getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id'))
