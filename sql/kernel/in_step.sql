-- One row is a kernel whose op started in the chosen step. Kernels linked to no op belong to no step.
--
-- kernel_id  BIGINT  a kernel of trace.kernel
--
-- Only when step.chosen has rows.
SELECT link.kernel_id
FROM module.link
JOIN trace.op USING (op_id)
JOIN step.chosen ON op.start_ns >= chosen.start_ns AND op.start_ns < chosen.end_ns
