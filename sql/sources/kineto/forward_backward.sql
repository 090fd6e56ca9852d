-- A flow begins at the start of the forward op and ends at the start of the backward op; its id is used once.
WITH flow_end AS (
    SELECT flow_id, is_start, thread_id(pid, tid) AS tid, start_ns
    FROM raw.flow
),
numbered_op AS (
    SELECT tid, start_ns, max(op_id) AS op_id
    FROM trace.op
    WHERE sequence_number IS NOT NULL
    GROUP BY tid, start_ns
)
SELECT forward_op.op_id AS forward_op_id, backward_op.op_id AS backward_op_id
FROM flow_end AS forward
JOIN flow_end AS backward USING (flow_id)
JOIN numbered_op AS forward_op ON forward_op.tid = forward.tid AND forward_op.start_ns = forward.start_ns
JOIN numbered_op AS backward_op ON backward_op.tid = backward.tid AND backward_op.start_ns = backward.start_ns
WHERE forward.is_start AND NOT backward.is_start
