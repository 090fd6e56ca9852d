SELECT
    * EXCLUDE (device_id, step),
    TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id
FROM raw.recorded_step
-- Where a database holds several devices, what names none belongs to the first of them.
WHERE getvariable('device_id') IS NULL OR coalesce(device_id, getvariable('first_device_id')) = getvariable('device_id')
