-- One row is a task of the autograd engine with an unknown forward op: it ran before profiling began, no op made the node, or
-- the profile lost the number, the forward thread or the pair.
--
-- tid       BIGINT  host thread: process id * 2^32 + thread id
-- start_ns  BIGINT  start of the engine's row around the work, Unix ns
-- end_ns    BIGINT  end, Unix ns; of several that start together the last end
WITH engine_name AS (
    SELECT text_id
    FROM trace.string
    WHERE starts_with(text, 'autograd::engine::evaluate_function: ') AND NOT contains(text, 'AccumulateGrad')
)
SELECT op.tid, op.start_ns, max(op.end_ns) AS end_ns
FROM trace.op
SEMI JOIN engine_name ON engine_name.text_id = op.name_id
ANTI JOIN module.autograd_task ON autograd_task.task_id = op.op_id
GROUP BY op.tid, op.start_ns
