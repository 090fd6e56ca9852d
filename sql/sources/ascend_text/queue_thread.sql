SELECT DISTINCT pid * 4294967296 + tid AS tid
FROM raw.queue_call
WHERE NOT is_enqueue
