SELECT
    connection_id AS launch_id,
    thread_id(process.pid, host_api.tid) AS tid,
    start_ns,
    end_ns,
    NULL::BIGINT AS name_id,
    false AS is_replay
FROM raw.host_api
CROSS JOIN trace.process
WHERE connection_id IS NOT NULL AND end_ns >= start_ns
