-- Each op has a chain of its own; those with the same frames are one stack, as in trace.stack_frame.
WITH chain AS (
    SELECT id, chain_key(stack, stackDepth) AS key
    FROM raw.callchain
    GROUP BY id
),
stack AS (
    SELECT id, min(id) OVER (PARTITION BY key) AS stack_id
    FROM chain
)
SELECT framework_op.row_id AS op_id, stack.stack_id
FROM raw.framework_op
JOIN stack ON stack.id = framework_op.callchainId
WHERE framework_op.endNs >= framework_op.startNs
