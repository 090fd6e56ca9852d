SELECT globalTid AS tid
FROM raw.dequeue_thread
WHERE globalTid IS NOT NULL
