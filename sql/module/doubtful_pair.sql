-- One row is a backward op whose number does not decide its forward op: several threads with the same id had forward ops with
-- this number before it, and for one of these ops the number alone finds no backward op.
--
-- @guard module.shared_thread
-- @unique life by start_ns, tid: where a thread counts anew, only its first op of a start does
--
-- op_id          BIGINT  the backward op
-- forward_op_id  BIGINT  the forward op on the thread that autograd's thread number means, where several of these numbers share
--                        the thread id; else that of module.numbered_pair
--
-- This happens where a thread ends before the backward of its work begins, as in a
-- pipeline, and the next thread gets the same id.
WITH life AS (
    FROM module.thread_life
    SEMI JOIN module.shared_thread USING (tid)
),
lived AS (
    SELECT op.op_id, op.tid, op.sequence_number, op.start_ns, op.end_ns, life.life
    FROM (FROM trace.op SEMI JOIN module.shared_thread USING (tid)) AS op
    ASOF JOIN life ON life.tid = op.tid AND life.start_ns <= op.start_ns
    WHERE op.sequence_number IS NOT NULL AND coalesce(op.forward_thread_id, 0) = 0
),
node AS (
    SELECT tid, sequence_number, life, arg_max(op_id, (start_ns, op_id)) AS op_id, max(end_ns) AS end_ns
    FROM lived
    GROUP BY tid, sequence_number, life
),
pair AS (
    SELECT pair.*, lived.life
    FROM module.numbered_pair AS pair
    JOIN lived ON lived.op_id = pair.forward_op_id
),
first_unpaired AS (
    SELECT tid, sequence_number, min(end_ns) AS end_ns
    FROM node
    ANTI JOIN pair USING (tid, sequence_number, life)
    GROUP BY tid, sequence_number
),
-- Autograd numbers threads in the order in which they begin, and the backward of a thread's work comes after the thread began.
thread_of_number AS (
    SELECT
        forward_thread_id,
        tid,
        row_number() OVER (PARTITION BY tid ORDER BY forward_thread_id) AS position,
        min(life) AS latest_life
    FROM pair
    GROUP BY forward_thread_id, tid
),
life_of_number AS (
    SELECT
        forward_thread_id,
        tid,
        position + min(latest_life - position) OVER (
            PARTITION BY tid ORDER BY position ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        ) AS life
    FROM thread_of_number
    QUALIFY count(*) OVER (PARTITION BY tid) > 1
)
SELECT pair.op_id, coalesce(node.op_id, pair.forward_op_id) AS forward_op_id
FROM pair
JOIN first_unpaired USING (tid, sequence_number)
LEFT JOIN life_of_number AS meant USING (forward_thread_id, tid)
LEFT JOIN node
    ON node.tid = pair.tid
    AND node.sequence_number = pair.sequence_number
    AND node.life = meant.life
    AND node.end_ns < pair.start_ns
WHERE first_unpaired.end_ns < pair.start_ns
