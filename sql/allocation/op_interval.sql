-- One row is an op that allocated memory, and the interval that encloses it.
--
-- @unique last_started by start_ns, tid: of each start on a thread is_last_started marks one
--
-- op_id        BIGINT  an op of trace.op
-- interval_id  BIGINT  the innermost interval of module.interval around it on its thread; ops outside all intervals have no row
--
-- The same search as in module.op_interval, which has only the ops that launched kernels or have a backward.
WITH RECURSIVE last_started AS (
    SELECT tid, start_ns, end_ns, interval_id
    FROM module.interval
    WHERE is_last_started
),
climb AS (
    SELECT op.op_id, op.start_ns, op.end_ns, last_started.interval_id, last_started.end_ns AS interval_end_ns
    FROM trace.op
    SEMI JOIN allocation.block_op ON block_op.op_id = op.op_id
    ASOF JOIN last_started ON last_started.tid = op.tid AND last_started.start_ns <= op.start_ns
    UNION ALL
    SELECT climb.op_id, climb.start_ns, climb.end_ns, interval_parent.parent_id, around.end_ns
    FROM climb
    JOIN module.interval_parent USING (interval_id)
    JOIN module.interval AS around ON around.interval_id = interval_parent.parent_id
    WHERE NOT covers(climb.interval_end_ns, climb.start_ns, climb.end_ns)
)
SELECT op_id, interval_id
FROM climb
WHERE covers(interval_end_ns, start_ns, end_ns)
