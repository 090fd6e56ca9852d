-- One row is a kernel of the chosen step.
--
-- @guard step.selected
--
-- kernel_id  BIGINT  a kernel of trace.kernel
SELECT kernel_id
FROM kernels.step
WHERE step_id = getvariable('step_id')
