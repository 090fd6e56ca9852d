-- A flow begins at the start of the forward op and ends at the start of the backward op, and its number is their sequence
-- number. Threads can use the same numbers: then the flows of one number follow each other in the file, the start of a flow
-- before its end.
WITH flow_end AS (
    SELECT
        flow_id,
        is_start,
        row_number() OVER (PARTITION BY flow_id, is_start ORDER BY event_id) AS position,
        thread_id(pid, tid) AS tid,
        start_ns
    FROM raw.flow
    WHERE category = 'fwdbwd'
),
numbered_op AS (
    SELECT tid, start_ns, sequence_number, max(op_id) AS op_id
    FROM trace.op
    WHERE sequence_number IS NOT NULL
    GROUP BY tid, start_ns, sequence_number
)
SELECT forward_op.op_id AS forward_op_id, backward_op.op_id AS backward_op_id
FROM flow_end AS forward
JOIN flow_end AS backward USING (flow_id, position)
JOIN numbered_op AS forward_op
    ON forward_op.tid = forward.tid AND forward_op.start_ns = forward.start_ns AND forward_op.sequence_number = flow_id
JOIN numbered_op AS backward_op
    ON backward_op.tid = backward.tid AND backward_op.start_ns = backward.start_ns AND backward_op.sequence_number = flow_id
WHERE forward.is_start AND NOT backward.is_start
