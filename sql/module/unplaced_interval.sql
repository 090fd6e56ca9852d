-- One row is an interval whose module path is not known: a call of module.unplaced_call, a call inside it, or backward work of
-- their ops.
--
-- @guard module.unplaced_call
--
-- interval_id  BIGINT   an interval of module.interval
-- is_cut       BOOLEAN  whether a call around it began before the recording or ended after it, as in module.unplaced_call
WITH RECURSIVE link AS (
    SELECT parent_id AS around_id, interval_id
    FROM module.interval_parent
    WHERE parent_id IS NOT NULL
    UNION ALL
    SELECT op_interval.interval_id, interval.interval_id
    FROM module.interval
    JOIN module.op_interval ON op_interval.op_id = interval.forward_op_id
),
found_interval AS (
    SELECT interval_id, is_cut
    FROM module.unplaced_call
    UNION
    SELECT link.interval_id, found_interval.is_cut
    FROM found_interval
    JOIN link ON link.around_id = found_interval.interval_id
)
SELECT interval_id, bool_or(is_cut) AS is_cut
FROM found_interval
GROUP BY interval_id
