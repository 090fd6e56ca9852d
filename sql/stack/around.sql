-- One row is an op, or a launch outside any op, and the innermost call of a Python function around it on its thread.
--
-- @unique last_started by start_ns, tid: of each start on a thread is_last_started marks one
--
-- op_id     BIGINT  an op of trace.op, or a launch of module.bare_launch
-- frame_id  BIGINT  a call of stack.frame_call
--
-- The same search as in module.op_interval.
WITH RECURSIVE last_started AS (
    SELECT tid, start_ns, end_ns, frame_id
    FROM stack.frame_call
    WHERE is_last_started
),
op AS (
    SELECT op_id, tid, start_ns, end_ns FROM trace.op WHERE NOT is_step
    UNION ALL
    SELECT op_id, tid, start_ns, end_ns FROM module.bare_launch
),
climb AS (
    SELECT op.op_id, op.start_ns, op.end_ns, last_started.frame_id, last_started.end_ns AS frame_end_ns
    FROM op
    ASOF JOIN last_started ON last_started.tid = op.tid AND last_started.start_ns <= op.start_ns
    UNION ALL
    SELECT climb.op_id, climb.start_ns, climb.end_ns, inner_call.parent_id, around.end_ns
    FROM climb
    JOIN stack.frame_call AS inner_call USING (frame_id)
    JOIN stack.frame_call AS around ON around.frame_id = inner_call.parent_id
    WHERE NOT covers(climb.frame_end_ns, climb.start_ns, climb.end_ns)
)
SELECT op_id, frame_id
FROM climb
WHERE covers(frame_end_ns, start_ns, end_ns)
