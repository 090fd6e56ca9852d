-- One row is an op that launched kernels, and the module call that encloses it.
--
-- op_id    BIGINT  an op of trace.op
-- call_id  BIGINT  the innermost interval of module.call around it on its thread; ops outside all calls have no row
--
-- The same climb as in module.forward_owner.
WITH RECURSIVE last_started AS (
    SELECT tid, start_ns, max(call_id) AS call_id
    FROM module.call
    GROUP BY tid, start_ns
),
climb AS (
    SELECT op.op_id, op.start_ns, op.end_ns, last_started.call_id
    FROM trace.op
    SEMI JOIN module.link ON link.op_id = op.op_id
    ASOF JOIN last_started ON last_started.tid = op.tid AND last_started.start_ns <= op.start_ns
    UNION ALL
    SELECT climb.op_id, climb.start_ns, climb.end_ns, call_parent.parent_id
    FROM climb
    JOIN module.call USING (call_id)
    JOIN module.call_parent USING (call_id)
    WHERE NOT covers(call.end_ns, climb.start_ns, climb.end_ns) AND call_parent.parent_id IS NOT NULL
)
SELECT climb.op_id, climb.call_id
FROM climb
JOIN module.call USING (call_id)
WHERE covers(call.end_ns, climb.start_ns, climb.end_ns)
