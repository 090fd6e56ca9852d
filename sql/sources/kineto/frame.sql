SELECT ordered_id(python_id, event_id) AS frame_id, thread_id(pid, tid) AS tid, name AS name_id, start_ns, end_ns
FROM raw.python_call
WHERE is_host_time(start_ns, end_ns)
