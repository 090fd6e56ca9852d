SELECT row_id AS op_id, callchainId AS stack_id
FROM raw.framework_op
SEMI JOIN raw.callchain ON callchain.id = framework_op.callchainId
WHERE endNs >= startNs
