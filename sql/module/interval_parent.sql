-- One row is an interval and the interval that encloses it on its thread.
--
-- interval_id  BIGINT   an interval of module.interval
-- parent_id    BIGINT   the innermost interval around it; NULL for an outermost one
-- is_crossing  BOOLEAN  whether an interval before it on its thread has not ended when it starts, and ends before it
WITH interval AS (
    SELECT interval_id AS span_id, tid, start_ns, end_ns
    FROM module.interval
)
SELECT span_id AS interval_id, parent_id, is_crossing
FROM parents(interval)
