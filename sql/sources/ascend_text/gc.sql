SELECT thread_id(process.pid, gc.tid) AS tid, start_ns, end_ns
FROM raw.gc
CROSS JOIN trace.process
WHERE is_host_time(start_ns, end_ns)
