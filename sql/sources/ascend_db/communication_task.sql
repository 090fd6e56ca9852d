-- A task id can be executed more than once: the right execution is the first one after the operator's start. The database can
-- hold rows twice: those of tasks, and those of the tables that name the links. At Level0 the task itself says what it does,
-- not between which ranks or over which link.
WITH task_of_operator AS (
    SELECT DISTINCT
        kernel.kernel_id,
        kernel.start_ns AS kernel_start_ns,
        kernel.end_ns AS kernel_end_ns,
        info.globalTaskId,
        info.taskType,
        info.isMaster,
        info.transportType,
        info.linkType,
        nullif(info.srcRank, 4294967295) AS source_rank,
        nullif(info.dstRank, 4294967295) AS destination_rank,
        info.size,
        if(info.planeId BETWEEN 0 AND 4294967294, info.planeId, NULL) AS plane
    FROM raw.communication_task_info AS info
    JOIN raw.communication_op AS communication USING (opId)
    JOIN trace.kernel ON kernel.kernel_id = 2 * communication.row_id + 1
),
execution AS (
    SELECT globalTaskId, startNs, max(endNs) AS endNs, min(taskType) AS executed_type
    FROM raw.task
    WHERE globalTaskId IN (SELECT globalTaskId FROM raw.communication_task_info)
    GROUP BY globalTaskId, startNs
),
transport AS (
    SELECT id AS transportType, if(min(name) IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, min(name)) AS transport
    FROM raw.enum_transport
    GROUP BY id
    HAVING count(DISTINCT name) = 1
),
link AS (
    SELECT id AS linkType, if(min(name) IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, min(name)) AS link
    FROM raw.enum_link
    GROUP BY id
    HAVING count(DISTINCT name) = 1
),
role_of_name AS (
    SELECT text_id AS taskType, role_of_communication_task(text) AS usual_role
    FROM trace.string
    WHERE text_id IN (SELECT taskType FROM raw.communication_task_info UNION SELECT executed_type FROM execution)
),
executed_task AS (
    SELECT
        task.* REPLACE (if(role_of_name.usual_role IS NULL, execution.executed_type, task.taskType) AS taskType),
        execution.startNs,
        execution.endNs
    FROM task_of_operator AS task
    LEFT JOIN role_of_name USING (taskType)
    ASOF JOIN execution ON execution.globalTaskId = task.globalTaskId AND task.kernel_start_ns <= execution.startNs
    WHERE execution.startNs <= task.kernel_end_ns AND is_device_time(execution.startNs, execution.endNs)
),
with_role AS (
    SELECT
        executed_task.*,
        transport.transport,
        link.link,
        CASE
            WHEN transport.transport = 'LOCAL' AND link.link IS NULL AND usual_role = 'transfer' THEN 'other'
            ELSE usual_role
        END AS role,
        if(role = 'transfer' AND plane IS NOT NULL, is_within_device(link.link, source_rank, destination_rank), NULL)
            AS is_within_device
    FROM executed_task
    LEFT JOIN transport USING (transportType)
    LEFT JOIN link USING (linkType)
    LEFT JOIN role_of_name USING (taskType)
)
SELECT
    task.kernel_id,
    if(task.role IS NULL, NULL, task.taskType) AS type_id,
    task.role::ENUM('transfer', 'wait', 'other') AS role,
    task.plane,
    CASE task.isMaster WHEN 1 THEN true WHEN 0 THEN false END AS is_master,
    task.transport,
    if(task.is_within_device, 'ON_CHIP', task.link) AS link,
    task.is_within_device,
    task.source_rank,
    task.destination_rank,
    nullif(task.size, -1) AS size_bytes,
    task.startNs AS start_ns,
    task.endNs AS end_ns,
    TRY((task.endNs - task.startNs) * 1000) AS duration_ps
FROM with_role AS task
