-- Two ops that share a value that is no launch are a forward op and its backward op. The writer numbers ops by start, so the
-- smaller group id is the forward one. A launch of another device looks the same: the forward threads of the ops exclude it,
-- where they are recorded.
WITH pair AS (
    SELECT connectionId, min(id) AS forward_group, max(id) AS backward_group
    FROM raw.connection_ids
    ANTI JOIN trace.kernel ON kernel.launch_id = connection_ids.connectionId
    GROUP BY connectionId
    HAVING forward_group < backward_group
)
SELECT forward.row_id AS forward_op_id, backward.row_id AS backward_op_id
FROM pair
JOIN raw.framework_op AS forward ON forward.connectionId = pair.forward_group
JOIN raw.framework_op AS backward ON backward.connectionId = pair.backward_group
WHERE is_host_time(forward.startNs, forward.endNs)
  AND is_host_time(backward.startNs, backward.endNs)
  AND coalesce(forward.fwdThreadId, 0) = 0
  AND backward.fwdThreadId IS DISTINCT FROM 0
