SELECT DISTINCT thread_id(pid, tid) AS tid
FROM raw.queue_call
WHERE NOT is_enqueue
