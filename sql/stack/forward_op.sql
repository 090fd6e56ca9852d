-- One row is an op whose own thread says from where Python code called it: an op with a stack, or an op inside one.
--
-- op_id     BIGINT  an op of trace.op, or a launch of module.bare_launch
-- stack_id  BIGINT  its stack: that recorded with it, that of the calls of Python functions around it, or that of the op around
--                   it
--
-- Each round goes one op further in. Were the ops without a stack not materialized, each round would look for them again, and
-- DuckDB 2.0 ends in a fault of memory with millions of them.
WITH RECURSIVE known_op AS (
    SELECT op_id, stack_id
    FROM trace.op_stack
    UNION ALL
    SELECT around.op_id, call_stack.stack_id
    FROM stack.around
    JOIN stack.call_stack USING (frame_id)
),
unknown AS MATERIALIZED (
    SELECT op_id, parent_id
    FROM op.parent
    ANTI JOIN known_op USING (op_id)
    WHERE parent_id IS NOT NULL
),
inherited_stack AS (
    FROM known_op
    UNION ALL
    SELECT unknown.op_id, inherited_stack.stack_id
    FROM inherited_stack
    JOIN unknown ON unknown.parent_id = inherited_stack.op_id
)
SELECT op_id, min(stack_id) AS stack_id
FROM inherited_stack
GROUP BY op_id
