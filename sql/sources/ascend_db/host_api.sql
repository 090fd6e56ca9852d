-- connectionId is the row's own key, and what tasks name as their launch.
SELECT
    row_id AS host_api_id,
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
    nullif(connectionId, -1) AS launch_id
FROM raw.cann_api
WHERE endNs >= startNs
