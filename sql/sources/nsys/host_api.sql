WITH role_of_name AS (
    SELECT text_id AS name, role_of_cuda_call(text) AS role
    FROM trace.string
    WHERE role_of_cuda_call(text) IS NOT NULL
)
SELECT
    event_id AS host_api_id,
    'runtime'::ENUM('acl', 'model', 'node', 'communication', 'runtime') AS level,
    name AS name_id,
    thread_id(pid, tid) AS tid,
    start_ns,
    end_ns,
    end_ns - start_ns AS duration_ns,
    role_of_name.role::ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile') AS role,
    launch_of(pid, correlation) AS launch_id
FROM raw.runtime_call
LEFT JOIN role_of_name USING (name)
WHERE is_host_time(start_ns, end_ns)
