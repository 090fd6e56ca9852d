-- One row is a kernel of a rank with passes, and the phase in which it ran. With a step chosen, only kernels of that step.
--
-- @guard pass.kernel
--
-- kernel_id  BIGINT   a kernel of trace.kernel
-- phase      VARCHAR  phase of its pass, as in pass.instance; unknown where that is not known; no pass for kernels of none
SELECT
    selected.kernel_id,
    CASE WHEN pass_kernel.kernel_id IS NULL THEN 'no pass' ELSE coalesce(instance.phase, 'unknown') END AS phase
FROM kernels.selected
LEFT JOIN pass.kernel AS pass_kernel USING (kernel_id)
LEFT JOIN pass.instance USING (pass_id)
