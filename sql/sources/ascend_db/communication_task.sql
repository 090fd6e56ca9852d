-- A task id can be executed more than once: the one that is meant is the first after the operator's start.
WITH task_of_operator AS (
    SELECT
        kernel.kernel_id,
        kernel.start_ns AS kernel_start_ns,
        kernel.end_ns AS kernel_end_ns,
        info.*,
        nullif(info.planeId, 4294967295) AS plane
    FROM raw.communication_task_info AS info
    JOIN raw.communication_op AS communication USING (opId)
    JOIN trace.kernel ON kernel.kernel_id = 2 * communication.row_id + 1
),
execution AS (
    SELECT globalTaskId, startNs, max(endNs) AS endNs
    FROM raw.task
    WHERE globalTaskId IN (SELECT globalTaskId FROM raw.communication_task_info)
    GROUP BY globalTaskId, startNs
)
SELECT
    task.kernel_id,
    if(task.plane IS NULL, NULL, task.taskType) AS type_id,
    task.plane,
    if(task.plane IS NULL, NULL, coalesce(task.isMaster, task.plane) = 1) AS is_master,
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
LEFT JOIN raw.enum_transport AS transport ON transport.id = task.transportType
LEFT JOIN raw.enum_link AS link ON link.id = task.linkType
WHERE execution.startNs <= task.kernel_end_ns AND execution.endNs >= execution.startNs
