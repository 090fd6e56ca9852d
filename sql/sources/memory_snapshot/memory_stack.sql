-- The op that was called is the outermost one of those inside the node of autograd, or inside Python where there is none.
WITH native_frame AS (
    SELECT
        stack.stack,
        stack.depth,
        op_of_native_frame(frame.name) AS op,
        autograd_node_of_native_frame(frame.name) AS node
    FROM raw.snapshot_stack AS stack
    JOIN raw.snapshot_frame AS frame ON frame.number = stack.frame
    WHERE NOT is_python_file(frame.filename)
),
innermost_node AS (
    SELECT stack, min(depth) AS depth, arg_min(node, depth) AS node
    FROM native_frame
    WHERE node IS NOT NULL
    GROUP BY stack
),
called AS (
    SELECT native_frame.stack, arg_max(native_frame.op, native_frame.depth) AS op
    FROM native_frame
    LEFT JOIN innermost_node USING (stack)
    WHERE native_frame.op IS NOT NULL AND coalesce(native_frame.depth < innermost_node.depth, true)
    GROUP BY native_frame.stack
)
SELECT stack.stack AS stack_id, text_id(called.op) AS op_id, text_id(innermost_node.node) AS autograd_id
FROM (SELECT DISTINCT stack FROM raw.snapshot_stack) AS stack
LEFT JOIN called USING (stack)
LEFT JOIN innermost_node USING (stack)
