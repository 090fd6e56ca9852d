-- The flow from the host ends at the position of the event on the device: its process, thread and start.
WITH task AS (
    SELECT *, row_number() OVER (PARTITION BY pid, tid, start_ns ORDER BY event_id) AS position
    FROM raw.mstx_task
),
flow AS (
    SELECT connection_id, row_number() OVER (PARTITION BY pid, tid, start_ns ORDER BY event_id) AS position, pid, tid, start_ns
    FROM raw.mstx_flow
    WHERE NOT is_start
)
SELECT
    flow.connection_id,
    process.device_id,
    task.stream_id,
    task.start_ns,
    task.end_ns,
    task.end_ns - task.start_ns AS duration_ns
FROM task
JOIN flow USING (pid, tid, start_ns, position)
LEFT JOIN trace.device_process AS process USING (pid)
WHERE is_device_time(task.start_ns, task.end_ns)
