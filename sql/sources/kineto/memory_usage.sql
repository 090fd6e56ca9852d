SELECT
    event_id AS usage_id,
    name_of_device_type(device_type) AS component,
    'framework'::ENUM('framework', 'operators', 'workspace', 'process', 'device', 'program', 'part') AS role,
    device_id,
    start_ns AS time_ns,
    allocated_bytes,
    reserved_bytes,
    NULL::BIGINT AS active_bytes,
    NULL::BIGINT AS requested_bytes
FROM raw.memory_event
WHERE device_type <> 0 AND is_moment(start_ns) AND are_totals(allocated_bytes, reserved_bytes, NULL)
  AND NOT getvariable('memory_is_beside')
