-- One row is a kernel of the chosen step.
--
-- kernel_id  BIGINT  a kernel of trace.kernel
--
-- Only when step.selected has rows.
SELECT kernel_id
FROM kernels.step
WHERE step_id = getvariable('step_id')
