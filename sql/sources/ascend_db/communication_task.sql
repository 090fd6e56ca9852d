-- A task id can be executed more than once: the one that is meant is the first after the operator's start. Rows of the database
-- can be there twice: of tasks, and of the tables that name the links.
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
        info.srcRank,
        info.dstRank,
        info.size,
        if(info.planeId BETWEEN 0 AND 4294967294, info.planeId, NULL) AS plane
    FROM raw.communication_task_info AS info
    JOIN raw.communication_op AS communication USING (opId)
    JOIN trace.kernel ON kernel.kernel_id = 2 * communication.row_id + 1
),
execution AS (
    SELECT globalTaskId, startNs, max(endNs) AS endNs
    FROM raw.task
    WHERE globalTaskId IN (SELECT globalTaskId FROM raw.communication_task_info)
    GROUP BY globalTaskId, startNs
),
transport AS (
    SELECT id, min(name) AS name
    FROM raw.enum_transport
    GROUP BY id
    HAVING count(DISTINCT name) = 1
),
link AS (
    SELECT id, min(name) AS name
    FROM raw.enum_link
    GROUP BY id
    HAVING count(DISTINCT name) = 1
)
SELECT
    task.kernel_id,
    if(task.plane IS NULL, NULL, task.taskType) AS type_id,
    task.plane,
    CASE task.isMaster WHEN 1 THEN true WHEN 0 THEN false END AS is_master,
    if(transport.name IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, transport.name) AS transport,
    if(link.name IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, link.name) AS link,
    nullif(task.srcRank, 4294967295) AS source_rank,
    nullif(task.dstRank, 4294967295) AS destination_rank,
    nullif(task.size, -1) AS size_bytes,
    execution.startNs AS start_ns,
    execution.endNs AS end_ns,
    TRY((execution.endNs - execution.startNs) * 1000) AS duration_ps
FROM task_of_operator AS task
ASOF JOIN execution ON execution.globalTaskId = task.globalTaskId AND task.kernel_start_ns <= execution.startNs
LEFT JOIN transport ON transport.id = task.transportType
LEFT JOIN link ON link.id = task.linkType
WHERE execution.startNs <= task.kernel_end_ns AND execution.endNs >= execution.startNs
