SELECT
    event.event_id,
    NULL::BIGINT AS tid,
    event.device_id,
    event.time_ns,
    event.size_bytes,
    usage.allocated_bytes,
    usage.reserved_bytes,
    event.free_bytes,
    event.stack_id
FROM trace.memory_event AS event
LEFT JOIN trace.memory_usage AS usage
    ON usage.usage_id = event.event_id AND usage.device_id IS NOT DISTINCT FROM event.device_id
WHERE event.kind = 'failure'
