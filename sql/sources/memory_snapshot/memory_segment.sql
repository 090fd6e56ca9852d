SELECT
    number AS segment_id,
    device AS device_id,
    address,
    stream AS stream_id,
    if(segment_type IN ('small', 'large'), segment_type, NULL)::ENUM('small', 'large') AS pool,
    coalesce(is_expandable <> 0, false) AS is_expandable,
    total_size AS size_bytes,
    if(allocated_size >= 0, allocated_size, NULL) AS allocated_bytes,
    if(active_size >= 0, active_size, NULL) AS active_bytes,
    if(requested_size >= 0, requested_size, NULL) AS requested_bytes,
    stack AS stack_id
FROM raw.snapshot_segment
WHERE is_on_device(device) AND is_size(total_size)
