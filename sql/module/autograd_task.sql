-- One row is a task of the autograd engine that works for one forward op or accumulates a gradient. All that runs inside the
-- task belongs to it: the backward op, the ops that it calls, and other work of the engine, such as a bias gradient.
--
-- task_id        BIGINT   the op that the engine records around the task; the backward op where it records none
-- tid            BIGINT   host thread: process id * 2^32 + thread id
-- start_ns       BIGINT   start, Unix ns
-- end_ns         BIGINT   end, Unix ns
-- forward_op_id  BIGINT   the forward op; NULL for a task that accumulates a gradient
WITH engine_name AS (
    SELECT text_id, contains(text, 'AccumulateGrad') AS is_gradient
    FROM trace.string
    WHERE starts_with(text, 'autograd::engine::evaluate_function: ')
),
engine_row AS (
    SELECT op.op_id, op.tid, op.start_ns, op.end_ns, engine_name.is_gradient
    FROM trace.op
    JOIN engine_name ON engine_name.text_id = op.name_id
),
last_started AS (
    SELECT tid, start_ns, max(op_id) AS op_id, arg_max(end_ns, op_id) AS end_ns
    FROM engine_row
    GROUP BY tid, start_ns
),
-- The engine's row around a backward op is the last one that started before it. It is the task of the backward op only where
-- the forward op ended before the row began.
node AS (
    SELECT
        op.op_id,
        op.tid,
        op.start_ns,
        op.end_ns,
        backward_op.forward_op_id,
        CASE
            WHEN covers(last_started.end_ns, op.start_ns, op.end_ns) AND forward.end_ns < last_started.start_ns
                THEN last_started.op_id
        END AS engine_op_id
    FROM module.backward_op
    JOIN trace.op USING (op_id)
    JOIN trace.op AS forward ON forward.op_id = backward_op.forward_op_id
    ASOF LEFT JOIN last_started ON last_started.tid = op.tid AND last_started.start_ns <= op.start_ns
),
task AS (
    SELECT engine_op_id AS task_id, forward_op_id
    FROM node
    WHERE engine_op_id IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY engine_op_id ORDER BY start_ns, op_id) = 1
)
SELECT engine_row.op_id AS task_id, engine_row.tid, engine_row.start_ns, engine_row.end_ns, task.forward_op_id
FROM engine_row
LEFT JOIN task ON task.task_id = engine_row.op_id
WHERE task.forward_op_id IS NOT NULL OR engine_row.is_gradient
UNION ALL
SELECT op_id, tid, start_ns, end_ns, forward_op_id
FROM node
WHERE engine_op_id IS NULL
