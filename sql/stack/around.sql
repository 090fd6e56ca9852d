-- One row is an op, or a launch outside any op, and the innermost call of a Python function around it on its thread.
--
-- op_id     BIGINT  an op of trace.op, or a launch of module.bare_launch
-- frame_id  BIGINT  a call of stack.frame_call
WITH op AS (
    SELECT op_id AS item_id, tid, start_ns, end_ns FROM trace.op WHERE NOT is_step
    UNION ALL
    SELECT op_id, tid, start_ns, end_ns FROM module.bare_launch
),
frame AS (
    SELECT frame_id AS span_id, parent_id, tid, start_ns, end_ns, is_last_started
    FROM stack.frame_call
)
SELECT item_id AS op_id, span_id AS frame_id
FROM innermost(op, frame)
