-- One row is a kernel and its step: its op started in a period of that step. All analyses take the step of a kernel from this
-- table, whether or not a step is chosen.
--
-- kernel_id  BIGINT  a kernel of trace.kernel
-- step_id    BIGINT  a step of trace.step; kernels that no op launched, and those of ops outside all steps, have no row
SELECT kernel_op.kernel_id, period.step_id
FROM module.kernel_op
JOIN trace.op USING (op_id)
ASOF JOIN step.period ON op.start_ns >= period.start_ns
WHERE op.start_ns < period.end_ns
UNION ALL
-- A profile without ops can still name the step of each kernel.
SELECT kernel_id, step_id
FROM trace.kernel
WHERE step_id IS NOT NULL AND NOT EXISTS (FROM trace.op)
