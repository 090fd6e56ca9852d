-- One row is a kernel and its step: its op started in a period of that step, or its launch did where it lies in no op and there
-- is no task queue. All analyses take the step of a kernel from this table, whether or not a step is chosen.
--
-- kernel_id  BIGINT  a kernel of trace.kernel
-- step_id    BIGINT  a step of trace.step; kernels for which neither is known, and those of ops and launches outside all steps,
--                    have no row
SELECT asked.kernel_id, period.step_id
FROM kernels.asked
ASOF JOIN step.period ON asked.asked_ns >= period.start_ns
WHERE asked.asked_ns < period.end_ns
UNION ALL
-- A profile without ops can still name the step of each kernel.
SELECT kernel_id, step_id
FROM trace.kernel
WHERE step_id IS NOT NULL AND NOT EXISTS (FROM trace.op)
