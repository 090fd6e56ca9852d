-- One row is a backward op and the forward op whose gradient it computes.
--
-- op_id          BIGINT  the backward op
-- forward_op_id  BIGINT  the forward op, which ended before the backward op began
--
-- Sequence numbers pair the ops. Where they do not decide, the pair that the profile recorded is used, if both ops have the
-- same number or if the number of the backward op leads to no forward op.
WITH recorded_op AS (
    SELECT pair.op_id, pair.forward_op_id, forward.tid, forward.sequence_number
    FROM module.recorded_pair AS pair
    JOIN trace.op AS backward ON backward.op_id = pair.op_id
    JOIN trace.op AS forward ON forward.op_id = pair.forward_op_id
    WHERE forward.end_ns < backward.start_ns
)
SELECT
    numbered.op_id,
    coalesce(recorded_op.forward_op_id, doubtful.forward_op_id, numbered.forward_op_id) AS forward_op_id
FROM module.numbered_pair AS numbered
LEFT JOIN module.doubtful_pair AS doubtful USING (op_id)
LEFT JOIN recorded_op
    ON recorded_op.op_id = numbered.op_id
    AND recorded_op.tid = numbered.tid
    AND recorded_op.sequence_number = numbered.sequence_number
UNION ALL
SELECT recorded_op.op_id, recorded_op.forward_op_id
FROM recorded_op
ANTI JOIN module.numbered_pair USING (op_id)
