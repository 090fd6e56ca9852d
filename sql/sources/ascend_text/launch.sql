-- A call has the number of the connection that its tasks carry. Level0 and writers of 2023 record no such calls, but a flow
-- from the moment of the launch, on its thread, to the task; numbers of flows follow no rule that all writers share.
WITH launching_call AS (
    SELECT connection_id, thread_id(process.pid, host_api.tid) AS tid, start_ns, end_ns
    FROM raw.host_api
    CROSS JOIN trace.process
    WHERE connection_id IS NOT NULL AND is_host_time(start_ns, end_ns)
),
flow_start AS (
    SELECT flow_id, min((start_ns, tid)) AS launched
    FROM raw.flow
    WHERE category = 'HostToDevice' AND is_start AND flow_id IS NOT NULL
    GROUP BY flow_id
    HAVING count(*) = 1
),
flow_end AS (
    SELECT flow_id, pid, tid, start_ns
    FROM raw.flow
    WHERE category = 'HostToDevice' AND NOT is_start
),
task AS (
    SELECT pid, tid, start_ns, connection_id FROM raw.device_task
    UNION ALL
    SELECT pid, tid, start_ns, connection_id FROM raw.communication_op
),
flown AS (
    SELECT task.connection_id, min(flow_start.launched) AS launched
    FROM task
    JOIN flow_end USING (pid, tid, start_ns)
    JOIN flow_start USING (flow_id)
    WHERE task.connection_id IS NOT NULL AND task.connection_id NOT IN (SELECT connection_id FROM launching_call)
    GROUP BY task.connection_id
)
SELECT connection_id AS launch_id, tid, start_ns, end_ns, NULL::BIGINT AS name_id, false AS is_replay
FROM launching_call
UNION ALL
SELECT connection_id, thread_id(process.pid, launched[2]), launched[1], launched[1], NULL, false
FROM flown
CROSS JOIN trace.process
