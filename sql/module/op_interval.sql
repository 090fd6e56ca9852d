-- One row is an op that launched kernels or that has a backward, and the interval that encloses it.
--
-- @keep
-- @unique last_started by start_ns, tid: of each start on a thread is_last_started marks one
--
-- op_id        BIGINT  an op of trace.op or trace.replayed_op, or a launch of module.bare_launch
-- interval_id  BIGINT  the innermost interval of module.interval around it on its thread; for an op of a replayed graph that
--                      lies in no range of its capture, that around the launch of the graph; ops outside all intervals have no
--                      row
--
-- The last interval that started before the op is the innermost one, unless it ends too early; then the search goes on with the
-- interval around it. Of intervals that start together only the last one is in the ASOF join, which leaves open which of equal
-- keys it returns. Ends go along with the candidates: to look up those of the rejected takes 0.1 s more for a million kernels.
WITH RECURSIVE last_started AS (
    SELECT tid, start_ns, end_ns, interval_id
    FROM module.interval
    WHERE is_last_started
),
wanted AS (
    SELECT op_id FROM module.kernel_op
    UNION ALL
    SELECT forward_op_id FROM module.interval WHERE forward_op_id IS NOT NULL
    UNION ALL
    SELECT op_id FROM module.replay
),
op AS (
    SELECT op_id, tid, start_ns, end_ns FROM trace.op SEMI JOIN wanted USING (op_id)
    UNION ALL
    SELECT op_id, tid, start_ns, end_ns FROM module.bare_launch
    UNION ALL
    SELECT op_id, tid, start_ns, end_ns FROM trace.replayed_op
),
climb AS (
    SELECT op.op_id, op.start_ns, op.end_ns, last_started.interval_id, last_started.end_ns AS interval_end_ns
    FROM op
    ASOF JOIN last_started ON last_started.tid = op.tid AND last_started.start_ns <= op.start_ns
    UNION ALL
    SELECT climb.op_id, climb.start_ns, climb.end_ns, interval_parent.parent_id, around.end_ns
    FROM climb
    JOIN module.interval_parent USING (interval_id)
    JOIN module.interval AS around ON around.interval_id = interval_parent.parent_id
    WHERE NOT covers(climb.interval_end_ns, climb.start_ns, climb.end_ns)
),
enclosed AS (
    SELECT op_id, interval_id
    FROM climb
    WHERE covers(interval_end_ns, start_ns, end_ns)
)
FROM enclosed
UNION ALL
SELECT replayed_op.op_id, enclosed.interval_id
FROM trace.replayed_op
JOIN module.replay USING (launch_id)
JOIN enclosed ON enclosed.op_id = replay.op_id
WHERE replayed_op.op_id NOT IN (SELECT op_id FROM enclosed WHERE op_id < 0)
