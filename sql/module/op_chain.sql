-- One row is an op that represents a row of the statistic, and the framework ops around it.
--
-- op_id     BIGINT   an op of trace.op
-- op_chain  VARCHAR  names of the ops around it on its thread, outermost first, and its own, joined by ' > '; without
--                    profiler steps
--
-- Ops are looked up by blocks: nesting all ops would take longer than everything else.
WITH first_op AS (
    SELECT op.op_id, op.tid, op.start_ns, op.end_ns
    FROM trace.op
    SEMI JOIN module.statistic_row ON statistic_row.first_op_id = op.op_id
),
near AS (
    SELECT first_op.*, block.block_id
    FROM first_op
    -- All pairs: the rows of the statistic, and blocks of 256 ops.
    JOIN op.block ON block.tid = first_op.tid AND block.start_ns <= first_op.start_ns AND block.end_ns >= first_op.end_ns
),
-- Materialized, so that names are looked up for these few alone: for a million kernels 0.5 s of CPU in place of 0.9.
around AS MATERIALIZED (
    SELECT near.op_id, op.start_ns, op.end_ns, op.op_id AS around_id, op.name_id
    FROM near
    JOIN trace.op
        ON op.op_id // 256 = near.block_id AND op.tid = near.tid AND op.start_ns <= near.start_ns AND op.end_ns >= near.end_ns
    WHERE NOT op.is_step AND (op.start_ns < near.start_ns OR op.end_ns > near.end_ns OR op.op_id <= near.op_id)
)
SELECT op_id, string_agg(coalesce(string.text, '(name lost)'), ' > ' ORDER BY start_ns, end_ns DESC, around_id) AS op_chain
FROM around
LEFT JOIN trace.string ON string.text_id = around.name_id
GROUP BY op_id
