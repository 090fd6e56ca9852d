-- One row is a kernel and the one op call that it belongs to, found through the launch, never through time.
--
-- kernel_id  BIGINT  a kernel of trace.kernel; kernels that no op launched have no row
-- op_id      BIGINT  an op of trace.op; where the profile names several ops for a launch, the innermost of them
WITH launching_op AS (
    SELECT op_link.launch_id, arg_max(op.op_id, (op.start_ns, -op.end_ns, op.op_id)) AS op_id
    FROM trace.op_link
    JOIN trace.op USING (op_id)
    GROUP BY op_link.launch_id
)
SELECT kernel.kernel_id, launching_op.op_id
FROM trace.kernel
JOIN launching_op USING (launch_id)
