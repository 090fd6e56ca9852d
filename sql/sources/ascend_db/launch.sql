SELECT
    connectionId AS launch_id,
    globalTid AS tid,
    startNs AS start_ns,
    endNs AS end_ns,
    NULL::BIGINT AS name_id,
    false AS is_replay
FROM raw.cann_api
WHERE is_host_time(startNs, endNs)
