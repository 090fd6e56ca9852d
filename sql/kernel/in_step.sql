-- One row is a kernel whose op started in the chosen step. Beside ops, kernels linked to none belong to no step.
--
-- kernel_id  BIGINT  a kernel of trace.kernel
--
-- Only when step.chosen has rows.
SELECT link.kernel_id
FROM module.link
JOIN trace.op USING (op_id)
JOIN step.chosen ON op.start_ns >= chosen.start_ns AND op.start_ns < chosen.end_ns
UNION ALL
-- A profile without any ops can still say of each kernel which step it is of.
SELECT kernel_id
FROM trace.kernel
WHERE step_id = getvariable('step_id') AND NOT EXISTS (FROM trace.op)
