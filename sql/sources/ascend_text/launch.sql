-- Calls of CANN lie in a process of msprof's own numbering; their threads are those of the process that runs the ops.
WITH host AS (
    SELECT coalesce(min(pid), 0) AS pid
    FROM raw.cpu_op
)
SELECT connection_id AS launch_id, thread_id(host.pid, tid) AS tid, start_ns, end_ns
FROM raw.host_api
CROSS JOIN host
WHERE connection_id IS NOT NULL AND end_ns >= start_ns
