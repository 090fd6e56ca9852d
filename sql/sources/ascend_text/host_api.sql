WITH role_of_name AS (
    SELECT text_id AS call, role_of_host_call(text) AS role
    FROM trace.string
    WHERE role_of_host_call(text) IS NOT NULL
)
SELECT
    ordered_id(place_of_layer(if(level = 'hccl', 'communication', level)), event_id) AS host_api_id,
    TRY_CAST(
        if(level = 'hccl', 'communication', level) AS ENUM('acl', 'model', 'node', 'communication', 'runtime')
    ) AS level,
    call AS name_id,
    thread_id(process.pid, host_api.tid) AS tid,
    start_ns,
    end_ns,
    end_ns - start_ns AS duration_ns,
    role_of_name.role::ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile') AS role,
    nullif(connection_id, -1) AS launch_id
FROM raw.host_api
CROSS JOIN trace.process
LEFT JOIN role_of_name USING (call)
WHERE is_host_time(start_ns, end_ns)
