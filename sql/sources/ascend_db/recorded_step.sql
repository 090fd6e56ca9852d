SELECT
    TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id,
    computing_ns,
    communication_ns,
    communication_not_overlapped_ns,
    overlapped_ns,
    free_ns,
    stage_ns,
    bubble_ns,
    preparing_ns
FROM raw.recorded_step
-- Where a database holds several devices, what names none belongs to the first of them.
WHERE getvariable('device_id') IS NULL OR coalesce(device_id, getvariable('first_device_id')) = getvariable('device_id')
