-- Calls of CANN lie in a process of msprof's own numbering; their threads are those of the process that runs the ops.
WITH host AS (
    SELECT coalesce(min(pid), 0) AS pid
    FROM raw.cpu_op
)
SELECT
    event_id AS host_api_id,
    TRY_CAST(
        if(level = 'hccl', 'communication', level) AS ENUM('acl', 'model', 'node', 'communication', 'runtime')
    ) AS level,
    call AS name_id,
    thread_id(host.pid, tid) AS tid,
    start_ns,
    end_ns,
    nullif(connection_id, -1) AS launch_id
FROM raw.host_api
CROSS JOIN host
WHERE end_ns >= start_ns
