-- A flow torch_to_npu begins at the start of the op that issued a task, and ends at the start of the task on its stream. Of ops
-- that begin together, the innermost issued it. A launch of several tasks has a flow to each. The number of a flow is the start
-- of its task. Flows of tasks that start together follow each other in the file, the start of a flow before its end.
WITH flow_point AS (
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
flow_start AS (
    SELECT flow_id, position, thread_id(pid, tid) AS tid, start_ns
    FROM flow_point
    WHERE is_start
),
flow_end AS (
    SELECT flow_id, position, pid, tid AS lane, start_ns
    FROM flow_point
    WHERE NOT is_start
),
innermost_op AS (
    SELECT tid, start_ns, arg_max(op_id, (-end_ns, op_id)) AS op_id
    FROM trace.op
    SEMI JOIN flow_start USING (tid, start_ns)
    GROUP BY tid, start_ns
),
task AS (
    SELECT pid, tid AS lane, start_ns, connection_id FROM raw.device_task
    UNION ALL
    SELECT pid, tid, start_ns, connection_id FROM raw.communication_op
)
SELECT DISTINCT innermost_op.op_id, task.connection_id AS launch_id
FROM flow_end
JOIN task USING (pid, lane, start_ns)
JOIN flow_start USING (flow_id, position)
JOIN innermost_op ON innermost_op.tid = flow_start.tid AND innermost_op.start_ns = flow_start.start_ns
SEMI JOIN trace.kernel ON kernel.launch_id = task.connection_id
