-- One row is an op that launched kernels or that has a backward, and the interval that encloses it.
--
-- @keep
--
-- op_id        BIGINT  an op of trace.op or trace.replayed_op, or a launch of module.bare_launch
-- interval_id  BIGINT  the innermost interval of module.interval around it on its thread; for an op of a replayed graph that
--                      lies in no range of its capture, that around the launch of the graph; ops outside all intervals have no
--                      row
WITH wanted_op AS (
    SELECT op_id FROM module.kernel_op
    UNION ALL
    SELECT forward_op_id FROM module.interval WHERE forward_op_id IS NOT NULL
    UNION ALL
    SELECT op_id FROM module.replay
),
op AS (
    SELECT op_id AS item_id, tid, start_ns, end_ns FROM trace.op SEMI JOIN wanted_op USING (op_id)
    UNION ALL
    SELECT op_id, tid, start_ns, end_ns FROM module.bare_launch
    UNION ALL
    SELECT op_id, tid, start_ns, end_ns FROM trace.replayed_op
),
interval AS (
    SELECT interval_id AS span_id, interval_parent.parent_id, tid, start_ns, end_ns, is_last_started
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
),
enclosed_op AS (
    SELECT item_id AS op_id, span_id AS interval_id
    FROM innermost(op, interval)
)
FROM enclosed_op
UNION ALL
SELECT replayed_op.op_id, enclosed_op.interval_id
FROM trace.replayed_op
JOIN module.replay USING (launch_id)
JOIN enclosed_op ON enclosed_op.op_id = replay.op_id
WHERE replayed_op.op_id NOT IN (SELECT op_id FROM enclosed_op WHERE op_id < 0)
