-- Runs of the garbage collector lie in a process of their own numbering; their threads are those of the process that runs the
-- ops.
WITH host AS (
    SELECT coalesce(min(pid), 0) AS pid
    FROM raw.cpu_op
)
SELECT thread_id(host.pid, tid) AS tid, start_ns, end_ns
FROM raw.gc
CROSS JOIN host
WHERE end_ns >= start_ns
