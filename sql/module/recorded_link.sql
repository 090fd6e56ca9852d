-- One row is a launch and the op that the profile itself recorded for it.
--
-- launch_id  BIGINT  a launch of trace.kernel
-- op_id      BIGINT  the op; where the profile names several for a launch, the innermost of them
SELECT op_link.launch_id, arg_max(op.op_id, (op.start_ns, -op.end_ns, op.op_id)) AS op_id
FROM trace.op_link
JOIN trace.op USING (op_id)
GROUP BY op_link.launch_id
