-- trace_view.json has a row of threads for each group: its operators, then its planes. A task belongs to the operator of its
-- group that started last.
WITH group_row AS (
    SELECT DISTINCT pid, tid
    FROM raw.thread
),
plane_row AS (
    SELECT pid, tid, min(plane) FILTER (plane BETWEEN 0 AND 4294967294) AS plane
    FROM raw.plane
    GROUP BY pid, tid
),
plane_of_group AS (
    SELECT plane_row.pid, plane_row.tid, plane_row.plane, group_row.tid AS group_tid
    FROM plane_row
    ASOF JOIN group_row ON group_row.pid = plane_row.pid AND group_row.tid <= plane_row.tid
),
operator AS (
    SELECT pid, tid, start_ns, max(end_ns) AS end_ns, max(event_id) AS event_id
    FROM raw.communication_op
    WHERE end_ns >= start_ns
    GROUP BY pid, tid, start_ns
),
task AS (
    SELECT
        communication_task.* REPLACE (
            if(transport IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, transport) AS transport,
            if(link IN ('N/A', 'RESERVED', 'INVALID_TYPE'), NULL, link) AS link,
            nullif(source_rank, 4294967295) AS source_rank,
            nullif(destination_rank, 4294967295) AS destination_rank
        ),
        plane_of_group.plane,
        plane_of_group.group_tid
    FROM raw.communication_task
    JOIN plane_of_group USING (pid, tid)
),
named AS (
    SELECT text_id AS name, role_of_communication_task(text) AS usual_role
    FROM trace.string
    WHERE text_id IN (SELECT name FROM raw.communication_task)
),
with_role AS (
    SELECT
        task.*,
        if(transport = 'LOCAL' AND link IS NULL AND usual_role = 'transfer', 'other', usual_role) AS role,
        if(role = 'transfer', is_within_device(link, source_rank, destination_rank), NULL) AS is_within_device
    FROM task
    LEFT JOIN named USING (name)
)
SELECT
    operator.event_id AS kernel_id,
    task.name AS type_id,
    task.role::ENUM('transfer', 'wait', 'other') AS role,
    task.plane,
    NULL::BOOLEAN AS is_master,
    task.transport,
    if(task.is_within_device, 'ON_CHIP', task.link) AS link,
    task.is_within_device,
    task.source_rank,
    task.destination_rank,
    task.size_bytes,
    task.start_ns,
    task.end_ns,
    task.duration_ps
FROM with_role AS task
ASOF JOIN operator ON operator.pid = task.pid AND operator.tid = task.group_tid AND operator.start_ns <= task.start_ns
WHERE task.start_ns <= operator.end_ns AND task.end_ns >= task.start_ns
