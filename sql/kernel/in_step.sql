-- One row is a kernel of the chosen step.
--
-- kernel_id  BIGINT  a kernel of trace.kernel
--
-- Only when step.chosen has rows.
SELECT kernel_id
FROM kernel.step
WHERE step_id = getvariable('step_id')
