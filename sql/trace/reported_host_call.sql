-- One row is a layer and name of host calls into the software of the device, with their number and times as the profiler
-- itself reported them (api_statistic.csv). A name without number or time has no row.
--
-- level       ENUM('acl', 'model', 'node', 'communication', 'runtime')  as in trace.host_api
-- name_id     TEXT_ID  name, such as aclrtSynchronizeStream
-- role        ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile')  as in trace.host_api
-- call_count  BIGINT   calls
-- total_ns    BIGINT   their time, ns; a call inside another one counts in both
-- min_ns      BIGINT   shortest time, ns; NULL when not reported
-- max_ns      BIGINT   longest time, ns; NULL when not reported
WITH recorded_call AS (
    SELECT
        TRY_CAST(
            if(level = 'hccl', 'communication', level) AS ENUM('acl', 'model', 'node', 'communication', 'runtime')
        ) AS level,
        name,
        call_count,
        total_ns,
        min_ns,
        max_ns
    FROM raw.recorded_host_call
    -- Calls of the host have no device, and count for each one.
    WHERE coalesce(device_id = getvariable('device_id'), true)
),
incomplete AS (
    SELECT DISTINCT level, name
    FROM recorded_call
    WHERE call_count IS NULL OR total_ns IS NULL OR call_count <= 0
)
SELECT
    recorded_call.level,
    text_id(name) AS name_id,
    role_of_host_call(name)::ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile') AS role,
    sum(call_count)::BIGINT AS call_count,
    sum(total_ns)::BIGINT AS total_ns,
    if(count(*) = count(min_ns), min(min_ns), NULL) AS min_ns,
    if(count(*) = count(max_ns), max(max_ns), NULL) AS max_ns
FROM recorded_call
ANTI JOIN incomplete ON incomplete.name = recorded_call.name AND incomplete.level IS NOT DISTINCT FROM recorded_call.level
WHERE recorded_call.name IS NOT NULL
GROUP BY recorded_call.level, recorded_call.name
