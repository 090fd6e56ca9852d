-- One row is a backward op and the forward op whose gradient it computes.
--
-- op_id          BIGINT  the backward op
-- forward_op_id  BIGINT  the forward op, which ended before the backward op began
--
-- Autograd numbers its nodes by forward thread. An op carries the number that the next node gets, so of the ops of a thread
-- with one number the last to start made the node. Where no number is recorded, the pair that the profile recorded serves.
WITH forward_op AS (
    SELECT tid, sequence_number, max(start_ns) AS start_ns, arg_max(op_id, (start_ns, op_id)) AS op_id
    FROM trace.op
    WHERE sequence_number IS NOT NULL AND forward_thread_id = 0
    GROUP BY tid, sequence_number
),
backward_op AS (
    SELECT op_id, start_ns, sequence_number, forward_thread_id
    FROM trace.op
    WHERE sequence_number IS NOT NULL AND forward_thread_id > 0
),
-- A backward op names its forward thread by autograd's own number, which threads get in the order of their first ops. The host
-- thread meant is the one that has most of its sequence numbers; of those with equally many, the one that began in that order.
thread_match AS (
    SELECT backward_op.forward_thread_id, forward_op.tid, count(*) AS matches
    FROM backward_op
    JOIN forward_op USING (sequence_number)
    WHERE forward_op.start_ns < backward_op.start_ns
    GROUP BY backward_op.forward_thread_id, forward_op.tid
),
thread AS (
    SELECT tid, row_number() OVER (ORDER BY min(start_ns), tid) AS place
    FROM trace.op
    GROUP BY tid
),
thread_of_number AS (
    SELECT forward_thread_id, tid
    FROM thread_match
    JOIN thread USING (tid)
    QUALIFY row_number() OVER (PARTITION BY forward_thread_id ORDER BY matches DESC, abs(place - forward_thread_id), tid) = 1
),
numbered AS (
    SELECT backward_op.op_id, forward_op.op_id AS forward_op_id
    FROM backward_op
    JOIN thread_of_number USING (forward_thread_id)
    JOIN forward_op USING (tid, sequence_number)
),
pair AS (
    FROM numbered
    UNION ALL
    SELECT op_id, forward_op_id
    FROM module.recorded_pair
)
SELECT pair.op_id, pair.forward_op_id
FROM pair
JOIN trace.op AS backward ON backward.op_id = pair.op_id
JOIN trace.op AS forward ON forward.op_id = pair.forward_op_id
WHERE forward.end_ns < backward.start_ns
