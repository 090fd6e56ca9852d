-- connectionId is the row's own key, and the launch id of its tasks.
WITH role_of_name AS (
    SELECT text_id AS name, role_of_host_call(text) AS role
    FROM trace.string
    WHERE role_of_host_call(text) IS NOT NULL
)
SELECT
    ordered_id(list_position([20000, 15000, 10000, 5500, 5000], type), row_id) AS host_api_id,
    CASE type
        WHEN 20000 THEN 'acl'
        WHEN 15000 THEN 'model'
        WHEN 10000 THEN 'node'
        WHEN 5500 THEN 'communication'
        WHEN 5000 THEN 'runtime'
    END::ENUM('acl', 'model', 'node', 'communication', 'runtime') AS level,
    name AS name_id,
    globalTid AS tid,
    startNs AS start_ns,
    endNs AS end_ns,
    endNs - startNs AS duration_ns,
    role_of_name.role::ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile') AS role,
    nullif(connectionId, -1) AS launch_id
FROM raw.cann_api
LEFT JOIN role_of_name USING (name)
WHERE is_host_time(startNs, endNs)
