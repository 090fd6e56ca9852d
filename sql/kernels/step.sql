-- One row is a kernel and its step: its op started in a period of that step, or its launch did where it lies in no op and there
-- is no task queue. All analyses take the step of a kernel from this table, whether or not a step is chosen.
--
-- kernel_id  BIGINT  a kernel of trace.kernel
-- step_id    BIGINT  a step of trace.step; kernels for which neither is known, and those of ops and launches outside all steps,
--                    have no row
WITH asked AS (
    SELECT kernel_op.kernel_id, op.start_ns
    FROM module.kernel_op
    JOIN trace.op USING (op_id)
    UNION ALL
    SELECT kernel.kernel_id, bare_launch.start_ns
    FROM trace.kernel
    JOIN module.bare_launch USING (launch_id)
    UNION ALL
    SELECT kernel_id, op.start_ns
    FROM trace.replayed_kernel
    JOIN trace.kernel USING (kernel_id)
    JOIN module.replay USING (launch_id)
    JOIN trace.op ON op.op_id = replay.op_id
)
SELECT asked.kernel_id, period.step_id
FROM asked
ASOF JOIN step.period ON asked.start_ns >= period.start_ns
WHERE asked.start_ns < period.end_ns
UNION ALL
-- A profile without ops can still name the step of each kernel.
SELECT kernel_id, step_id
FROM trace.kernel
WHERE step_id IS NOT NULL AND NOT EXISTS (FROM trace.op)
