-- One row is an op that launched kernels or that has a backward, and the interval that encloses it.
--
-- op_id        BIGINT  an op of trace.op
-- interval_id  BIGINT  the innermost interval of module.interval around it on its thread; ops outside all intervals have no row
--
-- The last interval that started before the op is the innermost one, unless it ends too early; then the search goes on with the
-- interval around it. Of intervals that start together the last one is chosen before the ASOF join, which leaves open which of
-- equal keys it returns.
WITH RECURSIVE last_started AS (
    SELECT tid, start_ns, max(interval_id) AS interval_id
    FROM module.interval
    GROUP BY tid, start_ns
),
wanted AS (
    SELECT op_id FROM module.kernel_op
    UNION ALL
    SELECT forward_op_id FROM module.interval WHERE forward_op_id IS NOT NULL
),
climb AS (
    SELECT op.op_id, op.start_ns, op.end_ns, last_started.interval_id
    FROM trace.op
    SEMI JOIN wanted ON wanted.op_id = op.op_id
    ASOF JOIN last_started ON last_started.tid = op.tid AND last_started.start_ns <= op.start_ns
    UNION ALL
    SELECT climb.op_id, climb.start_ns, climb.end_ns, interval_parent.parent_id
    FROM climb
    JOIN module.interval USING (interval_id)
    JOIN module.interval_parent USING (interval_id)
    WHERE NOT covers(interval.end_ns, climb.start_ns, climb.end_ns) AND interval_parent.parent_id IS NOT NULL
)
SELECT climb.op_id, climb.interval_id
FROM climb
JOIN module.interval USING (interval_id)
WHERE covers(interval.end_ns, climb.start_ns, climb.end_ns)
