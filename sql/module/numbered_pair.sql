-- One row is a backward op and the forward op that its sequence number finds.
--
-- @guard module.forward_number
-- @unique ended_op by end_ns, sequence_number, tid: equal ends have one last start, so DISTINCT leaves one
--
-- op_id              BIGINT  the backward op
-- forward_op_id      BIGINT  the last forward op with its number, on its forward thread, that ended before it began
-- tid                BIGINT  host thread of the forward op
-- sequence_number    BIGINT  sequence number of both
-- forward_thread_id  BIGINT  autograd's number of the forward thread
-- start_ns           BIGINT  start of the backward op, Unix ns
WITH backward_op AS (
    SELECT op_id, start_ns, sequence_number, forward_thread_id
    FROM trace.op
    WHERE sequence_number IS NOT NULL AND forward_thread_id > 0
),
-- A backward op names its forward thread by autograd's own number, which threads get in the order of their first ops. The
-- number means the host thread that has most of its sequence numbers; of those with equally many, the one whose position in
-- that order is nearest to the number.
thread_match AS (
    SELECT backward_op.forward_thread_id, forward.tid, count(*) AS matches
    FROM backward_op
    JOIN module.forward_number AS forward USING (sequence_number)
    WHERE forward.first_start_ns < backward_op.start_ns
    GROUP BY backward_op.forward_thread_id, forward.tid
),
thread_of_number AS (
    SELECT forward_thread_id, tid
    FROM thread_match
    JOIN module.thread_life USING (tid)
    QUALIFY row_number() OVER (PARTITION BY forward_thread_id ORDER BY matches DESC, abs(position - forward_thread_id), tid) = 1
),
latest AS (
    SELECT backward_op.*, forward.tid, forward.op_id AS forward_op_id, op.end_ns AS forward_end_ns
    FROM backward_op
    JOIN thread_of_number USING (forward_thread_id)
    JOIN module.forward_number AS forward USING (tid, sequence_number)
    JOIN trace.op ON op.op_id = forward.op_id
),
-- Where a thread begins to count again, the latest op with a number often comes after the backward op. Then all ops with the
-- number are candidates.
undecided AS (
    FROM latest
    WHERE forward_end_ns >= start_ns
),
ended_op AS (
    SELECT DISTINCT
        tid,
        sequence_number,
        end_ns,
        max(start_ns) OVER (PARTITION BY tid, sequence_number ORDER BY end_ns) AS last_start_ns
    FROM trace.op
    SEMI JOIN undecided USING (tid, sequence_number)
    WHERE coalesce(forward_thread_id, 0) = 0
),
found_pair AS (
    SELECT undecided.*, ended_op.last_start_ns
    FROM undecided
    ASOF JOIN ended_op
        ON ended_op.tid = undecided.tid
        AND ended_op.sequence_number = undecided.sequence_number
        AND ended_op.end_ns < undecided.start_ns
)
SELECT op_id, forward_op_id, tid, sequence_number, forward_thread_id, start_ns
FROM latest
WHERE forward_end_ns < start_ns
UNION ALL BY NAME
SELECT
    found_pair.op_id,
    max(op.op_id) AS forward_op_id,
    found_pair.tid,
    found_pair.sequence_number,
    found_pair.forward_thread_id,
    found_pair.start_ns
FROM found_pair
JOIN trace.op AS op
    ON op.tid = found_pair.tid
    AND op.sequence_number = found_pair.sequence_number
    AND op.start_ns = found_pair.last_start_ns
    AND op.end_ns < found_pair.start_ns
WHERE coalesce(op.forward_thread_id, 0) = 0
GROUP BY ALL
