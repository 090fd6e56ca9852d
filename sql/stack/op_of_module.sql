-- One row is an op that belongs to a module that --module chooses.
--
-- @guard stack.chosen_path
--
-- op_id  BIGINT  an op of trace.op, or a launch of module.bare_launch
WITH op AS (
    SELECT op_id AS item_id, tid, start_ns, end_ns
    FROM trace.op
),
interval AS (
    SELECT interval_id AS span_id, interval_parent.parent_id, tid, start_ns, end_ns, is_last_started
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
)
SELECT op_interval.item_id AS op_id
FROM innermost(op, interval) AS op_interval
JOIN module.call ON call.interval_id = op_interval.span_id
JOIN module.path USING (path_key, is_backward)
SEMI JOIN stack.chosen_path ON chosen_path.path_id = path.path_id
