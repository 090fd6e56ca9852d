WITH direction_of_name AS (
    SELECT
        text_id AS name,
        direction_of_gpu_copy(text) AS direction,
        CASE WHEN contains(text, 'Pageable') THEN 'pageable' WHEN contains(text, 'Pinned') THEN 'pinned' END AS host_memory
    FROM trace.string
    WHERE text_id IN (SELECT name FROM raw.device_work WHERE NOT is_kernel)
)
SELECT
    event_id AS copy_id,
    event_id AS kernel_id,
    NULL::BIGINT AS op_id,
    launch_of(pid, correlation) AS launch_id,
    device_id,
    stream_id,
    start_ns,
    end_ns,
    end_ns - start_ns AS duration_ns,
    direction_of_name.direction
        ::ENUM('host to device', 'device to host', 'device to device', 'host to host', 'fill', 'other') AS direction,
    nullif(greatest(size_bytes, -1), -1) AS size_bytes,
    direction_of_name.host_memory::ENUM('pageable', 'pinned') AS host_memory
FROM raw.device_work
LEFT JOIN direction_of_name USING (name)
WHERE NOT is_kernel AND is_device_time(start_ns, end_ns)
