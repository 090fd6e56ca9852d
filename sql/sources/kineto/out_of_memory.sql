SELECT
    event_id,
    thread_id(pid, tid) AS tid,
    device_id,
    start_ns AS time_ns,
    if(size_bytes > 0, size_bytes, NULL) AS size_bytes,
    if(allocated_bytes >= 0, allocated_bytes, NULL) AS allocated_bytes,
    if(reserved_bytes >= 0, reserved_bytes, NULL) AS reserved_bytes,
    NULL::BIGINT AS free_bytes,
    NULL::BIGINT AS stack_id
FROM raw.out_of_memory
WHERE is_moment(start_ns) AND device_type IS DISTINCT FROM 0 AND NOT getvariable('memory_is_beside')
