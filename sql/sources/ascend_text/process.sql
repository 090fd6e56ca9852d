-- Calls of CANN, mstx marks and the garbage collector are in processes that the profiler numbers itself; their threads are
-- threads of this process.
SELECT coalesce(min(pid), 0) AS pid
FROM raw.cpu_op
