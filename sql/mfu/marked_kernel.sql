-- One row is an attention kernel and the mark that holds its arguments.
--
-- @guard mfu.attention_mark
--
-- kernel_id   BIGINT   a kernel of mfu.cube_kernel
-- shape_id    BIGINT   its description in mfu.shape
-- message_id  TEXT_ID  the arguments
--
-- A mark belongs to the next op of its thread that launches an attention, and to
-- the backward of that op.
WITH launched_kernel AS (
    SELECT cube_kernel.kernel_id, shape.shape_id, shape.family, kernel_op.op_id
    FROM mfu.cube_kernel
    JOIN mfu.shape USING (shape_id)
    JOIN module.kernel_op USING (kernel_id)
    WHERE shape.family IN ('attention', 'attention gradient', 'inference attention', 'paged attention')
),
last_mark AS (
    SELECT tid, start_ns, max(mark_id) AS mark_id
    FROM mfu.attention_mark
    GROUP BY tid, start_ns
),
forward_op AS (
    SELECT op.op_id, op.tid, op.start_ns, op.end_ns, last_mark.mark_id
    FROM trace.op
    SEMI JOIN (FROM launched_kernel WHERE family <> 'attention gradient') AS forward ON forward.op_id = op.op_id
    ASOF JOIN last_mark ON last_mark.tid = op.tid AND last_mark.start_ns <= op.start_ns
    QUALIFY row_number() OVER (PARTITION BY last_mark.mark_id ORDER BY op.start_ns, op.end_ns DESC, op.op_id) = 1
),
-- The op whose gradient is computed holds the op that launched the attention, or lies in it.
backward_op AS (
    SELECT DISTINCT launched_kernel.op_id, interval.forward_op_id
    FROM launched_kernel
    JOIN module.op_interval ON op_interval.op_id = launched_kernel.op_id
    JOIN module.interval ON interval.interval_id = op_interval.interval_id
    WHERE launched_kernel.family = 'attention gradient' AND interval.forward_op_id IS NOT NULL
),
marked_op AS (
    SELECT op_id, mark_id
    FROM forward_op
    UNION ALL
    SELECT backward_op.op_id, max(forward_op.mark_id) AS mark_id
    FROM backward_op
    JOIN trace.op AS forward ON forward.op_id = backward_op.forward_op_id
    -- All pairs: of the ops of attention alone.
    JOIN forward_op
        ON forward_op.tid = forward.tid AND forward_op.start_ns <= forward.end_ns AND forward_op.end_ns >= forward.start_ns
    GROUP BY backward_op.op_id
    HAVING count(DISTINCT forward_op.mark_id) = 1
)
SELECT launched_kernel.kernel_id, launched_kernel.shape_id, attention_mark.message_id
FROM launched_kernel
JOIN marked_op USING (op_id)
JOIN mfu.attention_mark USING (mark_id)
