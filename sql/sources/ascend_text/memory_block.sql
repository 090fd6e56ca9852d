-- Blocks of the graph engine have neither a stream nor the active total. The KB of the file are KiB.
SELECT
    row_number AS block_id,
    if(stream IS NULL AND active_mib IS NULL, 'GE', 'PTA') AS component,
    if(stream IS NULL AND active_mib IS NULL, 'operators', 'framework')::ENUM('framework', 'operators', 'process')
        AS role,
    device_of_memory(device) AS device_id,
    stream AS stream_id,
    NULL::BIGINT AS tid,
    name AS name_id,
    bytes_of(size_kib, 1024) AS size_bytes,
    allocated_ns,
    released_ns,
    reusable_ns,
    NULL::BIGINT AS requested_bytes,
    NULL::BIGINT AS stack_id
FROM raw.memory_block
WHERE is_size(bytes_of(size_kib, 1024)) AND is_lifetime(allocated_ns, released_ns) AND NOT getvariable('memory_is_beside')
