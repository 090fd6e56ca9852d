SELECT
    connectionId AS connection_id,
    deviceId AS device_id,
    nullif(streamId, 4294967295) AS stream_id,
    startNs AS start_ns,
    endNs AS end_ns,
    endNs - startNs AS duration_ns
FROM raw.task
WHERE connectionId IN (SELECT connection_id FROM trace.mstx_record)
  AND is_device_time(startNs, endNs)
  -- Where a database holds several devices, rows that name no device belong to the first one.
  AND (getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id'))
