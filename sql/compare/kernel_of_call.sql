-- One row is a kernel and the call of the root module in which its op started, or after which it did.
--
-- kernel_id  BIGINT  a kernel of trace.kernel; those that no op launched, and those before the first call, have no row
-- unit_id    BIGINT  a call of compare.root_call
--
-- Only when compare.root_call has rows.
SELECT kernel_op.kernel_id, root_call.unit_id
FROM module.kernel_op
JOIN trace.op USING (op_id)
ASOF JOIN compare.root_call ON op.start_ns >= root_call.start_ns
