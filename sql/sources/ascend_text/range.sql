-- mstx ranges lie in a process of msprof's own numbering; their threads are those of the process that runs the ops.
WITH host AS (
    SELECT coalesce(min(pid), 0) AS pid
    FROM raw.cpu_op
)
SELECT
    event_id AS range_id,
    'mstx' AS origin,
    CASE event_type WHEN 'push/pop' THEN 'push_pop' ELSE 'start_end' END AS api,
    domain AS domain_id,
    thread_id(host.pid, tid) AS tid,
    name AS name_id,
    name AS recorded_name_id,
    start_ns,
    end_ns
FROM raw.mstx
CROSS JOIN host
WHERE event_type IN ('push/pop', 'start/end') AND end_ns >= start_ns
UNION ALL
SELECT
    event_id,
    'nn.Module',
    NULL,
    NULL,
    thread_id(pid, tid),
    class,
    name,
    start_ns,
    end_ns
FROM raw.module_call
WHERE end_ns >= start_ns
