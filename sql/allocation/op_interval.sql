-- One row is an op that allocated memory, and the interval that encloses it.
--
-- op_id        BIGINT  an op of trace.op
-- interval_id  BIGINT  the innermost interval of module.interval around it on its thread; ops outside all intervals have no row
WITH op AS (
    SELECT op_id AS item_id, tid, start_ns, end_ns
    FROM trace.op
    SEMI JOIN allocation.block_op USING (op_id)
),
interval AS (
    SELECT interval_id AS span_id, interval_parent.parent_id, tid, start_ns, end_ns, is_last_started
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
)
SELECT item_id AS op_id, span_id AS interval_id
FROM innermost(op, interval)
