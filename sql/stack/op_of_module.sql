-- One row is an op that belongs to a module that --module chooses.
--
-- @guard stack.chosen_path
-- @unique last_started by start_ns, tid: of each start on a thread is_last_started marks one
--
-- op_id  BIGINT  an op of trace.op, or a launch of module.bare_launch
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
    ASOF JOIN last_started ON last_started.tid = op.tid AND last_started.start_ns <= op.start_ns
    UNION ALL
    SELECT climb.op_id, climb.start_ns, climb.end_ns, interval_parent.parent_id, around.end_ns
    FROM climb
    JOIN module.interval_parent USING (interval_id)
    JOIN module.interval AS around ON around.interval_id = interval_parent.parent_id
    WHERE NOT covers(climb.interval_end_ns, climb.start_ns, climb.end_ns)
)
SELECT climb.op_id
FROM climb
JOIN module.call USING (interval_id)
JOIN module.path USING (path_key, is_backward)
SEMI JOIN stack.chosen_path ON chosen_path.path_id = path.path_id
WHERE covers(climb.interval_end_ns, climb.start_ns, climb.end_ns)
