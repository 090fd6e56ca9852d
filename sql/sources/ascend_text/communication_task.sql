-- trace_view.json has a row of threads for each group: its operators, then its planes. A task belongs to the operator of its
-- group that started last. At Level0 it has no planes; then tasks of the streams that notify other streams say what the only
-- operator does that runs, not between which ranks or over which link.
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
    WHERE is_device_time(start_ns, end_ns)
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
role_of_name AS (
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
    LEFT JOIN role_of_name USING (name)
),
device_name AS (
    SELECT
        text_id AS name,
        role_of_communication_task(text) AS role,
        starts_with(type_of_task(text), 'NOTIFY') AS is_notify
    FROM trace.string
    WHERE NOT EXISTS (FROM raw.communication_task)
      AND text_id IN (SELECT name FROM raw.device_task)
      AND role_of_communication_task(text) IN ('wait', 'transfer')
),
any_operator AS (
    SELECT
        start_ns,
        max(end_ns) AS end_ns,
        max(event_id) AS event_id,
        max(max(end_ns)) OVER (ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM raw.communication_op
    WHERE is_device_time(start_ns, end_ns)
    GROUP BY start_ns
    HAVING count(*) = 1
),
notifying_stream AS (
    SELECT DISTINCT device_task.pid, device_task.stream_id
    FROM raw.device_task
    JOIN device_name USING (name)
    ASOF JOIN any_operator AS operator ON operator.start_ns <= device_task.start_ns
    WHERE device_name.is_notify AND device_task.start_ns <= operator.end_ns
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
WHERE task.start_ns <= operator.end_ns AND is_device_time(task.start_ns, task.end_ns)
UNION ALL
SELECT
    operator.event_id AS kernel_id,
    device_task.name AS type_id,
    device_name.role::ENUM('transfer', 'wait', 'other') AS role,
    NULL AS plane,
    NULL AS is_master,
    NULL AS transport,
    NULL AS link,
    NULL AS is_within_device,
    NULL AS source_rank,
    NULL AS destination_rank,
    NULL AS size_bytes,
    device_task.start_ns,
    device_task.end_ns,
    TRY((device_task.end_ns - device_task.start_ns) * 1000) AS duration_ps
FROM raw.device_task
JOIN device_name USING (name)
SEMI JOIN notifying_stream USING (pid, stream_id)
ASOF JOIN any_operator AS operator ON operator.start_ns <= device_task.start_ns
WHERE is_device_time(device_task.start_ns, device_task.end_ns)
  AND device_task.start_ns <= operator.end_ns
  AND coalesce(operator.before_ns <= device_task.start_ns, true)
