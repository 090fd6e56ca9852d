-- Each op has a chain of its own; those with the same frames are one stack, as in trace.stack_frame. Staging finds most of
-- them; those whose frames have other ids of the same texts are left.
WITH frames AS (
    SELECT id, chain_key(stack, stackDepth) AS key
    FROM raw.callchain
    GROUP BY id
),
stack AS (
    SELECT id, min(id) OVER (PARTITION BY key) AS stack_id
    FROM frames
)
SELECT framework_op.row_id AS op_id, stack.stack_id
FROM raw.framework_op
JOIN raw.chain ON chain.id = framework_op.callchainId
JOIN stack ON stack.id = chain.first_id
WHERE is_host_time(framework_op.startNs, framework_op.endNs)
