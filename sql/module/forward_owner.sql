-- One row is a forward op with a recorded backward op, and the module range that encloses it.
--
-- op_id     BIGINT  an op of trace.op
-- range_id  BIGINT  the innermost range of module.range around it on its thread; ops outside all ranges have no row
--
-- The range that started last is the only one that can enclose the op without enclosing another that does; when it has ended,
-- the answer is among the ranges around it. Of ranges that start together the last is taken before the ASOF join, which leaves
-- open which of equal keys it returns.
WITH RECURSIVE last_started AS (
    SELECT tid, start_ns, max(range_id) AS range_id
    FROM module.range
    GROUP BY tid, start_ns
),
climb AS (
    SELECT op.op_id, op.start_ns, op.end_ns, last_started.range_id
    FROM trace.op
    SEMI JOIN trace.forward_backward ON forward_backward.forward_op_id = op.op_id
    ASOF JOIN last_started ON last_started.tid = op.tid AND last_started.start_ns <= op.start_ns
    UNION ALL
    SELECT climb.op_id, climb.start_ns, climb.end_ns, range_parent.parent_id
    FROM climb
    JOIN module.range USING (range_id)
    JOIN module.range_parent USING (range_id)
    WHERE NOT covers(range.end_ns, climb.start_ns, climb.end_ns) AND range_parent.parent_id IS NOT NULL
)
SELECT climb.op_id, climb.range_id
FROM climb
JOIN module.range USING (range_id)
WHERE covers(range.end_ns, climb.start_ns, climb.end_ns)
