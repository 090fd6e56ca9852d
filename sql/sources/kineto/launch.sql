SELECT correlation AS launch_id, thread_id(pid, tid) AS tid, start_ns, end_ns, name AS name_id
FROM raw.runtime_call
WHERE correlation <> 0 AND end_ns >= start_ns
