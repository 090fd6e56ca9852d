-- One row is an op and the Python stack from which it was called.
--
-- op_id        BIGINT   an op of trace.op, or a launch of module.bare_launch; ops whose stack is not known have no row
-- stack_id     BIGINT   a stack of stack.frame
-- is_backward  BOOLEAN  whether no Python code called it, and it computes gradients of a forward op, whose stack this is
--
-- A backward op is in a task of the autograd engine, which has one forward op; the task and the ops inside it have its stack.
WITH RECURSIVE of_task AS (
    SELECT op_interval.op_id, interval.forward_op_id
    FROM module.op_interval
    JOIN module.interval USING (interval_id)
    WHERE interval.forward_op_id IS NOT NULL
    UNION
    SELECT op_id, forward_op_id
    FROM module.backward_op
    UNION
    SELECT task_id, forward_op_id
    FROM module.autograd_task
    WHERE forward_op_id IS NOT NULL
),
backward AS (
    SELECT of_task.op_id, min(forward_op.stack_id) AS stack_id
    FROM of_task
    JOIN stack.forward_op ON forward_op.op_id = of_task.forward_op_id
    ANTI JOIN stack.forward_op AS itself ON itself.op_id = of_task.op_id
    GROUP BY of_task.op_id
),
-- With activation recomputation the gradients are accumulated inside the task of the checkpoint.
gradient_task AS (
    SELECT task_id
    FROM module.autograd_task
    WHERE forward_op_id IS NULL
),
unknown AS MATERIALIZED (
    SELECT op_id, parent_id
    FROM op.parent
    ANTI JOIN stack.forward_op USING (op_id)
    ANTI JOIN backward USING (op_id)
    ANTI JOIN gradient_task ON gradient_task.task_id = parent.op_id
    WHERE parent_id IS NOT NULL
),
inherited_stack AS (
    FROM backward
    UNION ALL
    SELECT unknown.op_id, inherited_stack.stack_id
    FROM inherited_stack
    JOIN unknown ON unknown.parent_id = inherited_stack.op_id
)
SELECT op_id, stack_id, false AS is_backward
FROM stack.forward_op
UNION ALL
SELECT op_id, stack_id, true AS is_backward
FROM inherited_stack
