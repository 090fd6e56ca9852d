-- Two ops that share a value which is no launch are a forward op and its backward op. The writer numbers ops by start, so the
-- smaller group id is the forward one.
WITH pair AS (
    SELECT connectionId, min(id) AS forward_group, max(id) AS backward_group
    FROM raw.connection_ids
    ANTI JOIN trace.kernel ON kernel.launch_id = connection_ids.connectionId
    GROUP BY connectionId
    HAVING forward_group < backward_group
)
SELECT forward.row_id AS forward_op_id, backward.row_id AS backward_op_id
FROM pair
JOIN raw.pytorch_api AS forward ON forward.connectionId = pair.forward_group
JOIN raw.pytorch_api AS backward ON backward.connectionId = pair.backward_group
SEMI JOIN trace.op AS forward_op ON forward_op.op_id = forward.row_id
SEMI JOIN trace.op AS backward_op ON backward_op.op_id = backward.row_id
