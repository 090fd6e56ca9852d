-- Bytes and direction are arguments of the event, which versions before 2025 do not write. A copy of a communication operator
-- is an event of the operator too, with the same start; not so on a stream of the operator's own (910A), which only copies,
-- reduces and notifies other streams, and works while an operator runs. The flow from the op ends at the position of the event:
-- its process, thread and start.
WITH operator AS (
    SELECT start_ns, max(max(end_ns)) OVER (ORDER BY start_ns) AS reached_ns
    FROM raw.communication_op
    WHERE is_device_time(start_ns, end_ns)
    GROUP BY start_ns
),
task_name AS (
    SELECT text_id AS name, is_task_between_streams(text) AS is_between, starts_with(type_of_task(text), 'NOTIFY') AS is_notify
    FROM trace.string
    WHERE text_id IN (SELECT name FROM raw.device_task)
),
between_streams AS (
    SELECT device_task.pid, device_task.stream_id
    FROM raw.device_task
    JOIN task_name USING (name)
    WHERE EXISTS (FROM operator)
      AND (device_task.pid, device_task.stream_id) IN (SELECT (pid, stream_id) FROM raw.copy_task)
    GROUP BY device_task.pid, device_task.stream_id
    HAVING bool_and(task_name.is_between) AND bool_or(task_name.is_notify)
),
stream_of_operators AS (
    SELECT DISTINCT device_task.pid, device_task.stream_id
    FROM raw.device_task
    JOIN task_name USING (name)
    JOIN between_streams USING (pid, stream_id)
    ASOF JOIN operator ON operator.start_ns <= device_task.start_ns
    WHERE task_name.is_notify AND device_task.end_ns <= operator.reached_ns + 1
),
copy AS (
    SELECT *
    FROM raw.copy_task
    ANTI JOIN stream_of_operators USING (pid, stream_id)
    WHERE is_device_time(start_ns, end_ns)
      AND start_ns NOT IN (SELECT start_ns FROM raw.communication_task WHERE start_ns IS NOT NULL)
),
flow_point AS (
    SELECT
        flow_id,
        is_start,
        row_number() OVER (PARTITION BY flow_id, is_start ORDER BY event_id) AS position,
        pid,
        tid,
        start_ns
    FROM raw.flow
    WHERE category = 'async_npu'
),
issued AS (
    SELECT copy.event_id, thread_id(flow_start.pid, flow_start.tid) AS tid, flow_start.start_ns
    FROM copy
    JOIN flow_point AS flow_end
        ON NOT flow_end.is_start
        AND flow_end.pid = copy.pid
        AND flow_end.tid = copy.tid
        AND flow_end.start_ns = copy.start_ns
    JOIN flow_point AS flow_start
        ON flow_start.is_start
        AND flow_start.flow_id = flow_end.flow_id
        AND flow_start.position = flow_end.position
),
-- Of ops that begin together, the innermost issued it.
linked_op AS (
    SELECT issued.event_id, arg_max(op.op_id, (-op.end_ns, op.op_id)) AS op_id
    FROM issued
    JOIN trace.op USING (tid, start_ns)
    GROUP BY issued.event_id
)
SELECT
    copy.event_id AS copy_id,
    NULL::BIGINT AS kernel_id,
    linked_op.op_id,
    nullif(copy.connection_id, -1) AS launch_id,
    process.device_id,
    nullif(coalesce(copy.stream_id, copy.tid), 4294967295) AS stream_id,
    copy.start_ns,
    copy.end_ns,
    copy.end_ns - copy.start_ns AS duration_ns,
    direction_of_memory_copy(copy.operation)
        ::ENUM('host to device', 'device to host', 'device to device', 'host to host', 'fill', 'other') AS direction,
    nullif(greatest(copy.size_bytes, -1), -1) AS size_bytes,
    NULL::ENUM('pageable', 'pinned') AS host_memory
FROM copy
LEFT JOIN linked_op USING (event_id)
LEFT JOIN trace.device_process AS process USING (pid)
