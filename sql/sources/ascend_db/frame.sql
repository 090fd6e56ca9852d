SELECT row_id AS frame_id, globalTid AS tid, name AS name_id, startNs AS start_ns, endNs AS end_ns
FROM raw.python_call
WHERE is_host_time(startNs, endNs)
