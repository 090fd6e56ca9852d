SELECT event_id AS op_id, stack AS stack_id
FROM raw.op_stack
SEMI JOIN trace.op ON op.op_id = op_stack.event_id
WHERE stack IS NOT NULL
