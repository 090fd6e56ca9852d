-- mstx marks lie in a process of msprof's own numbering; their threads are those of the process that runs the ops.
WITH host AS (
    SELECT coalesce(min(pid), 0) AS pid
    FROM raw.cpu_op
)
SELECT
    event_id AS mark_id,
    domain AS domain_id,
    thread_id(host.pid, tid) AS tid,
    name AS message_id,
    start_ns
FROM raw.mstx
CROSS JOIN host
WHERE event_type IN ('marker', 'marker_ex') AND start_ns IS NOT NULL
