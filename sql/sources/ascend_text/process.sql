-- Calls of CANN, mstx marks and the garbage collector lie in processes of the profiler's own numbering; their threads are those
-- of this one.
SELECT coalesce(min(pid), 0) AS pid
FROM raw.cpu_op
