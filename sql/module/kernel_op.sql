-- One row is a kernel and the op that launched it, found through the launch, never through time on the device.
--
-- kernel_id  BIGINT   a kernel of trace.kernel; kernels that no op launched have no row
-- op_id      BIGINT   an op of trace.op; for a kernel of a replayed graph whose ops are known, an op of trace.replayed_op
-- link       VARCHAR  recorded in the profile; derived from the host's intervals where nothing is recorded; corrected where
--                     they prove another op than the recorded one; replayed for an op of trace.replayed_op
--
-- Kept for other questions.
SELECT
    kernel.kernel_id,
    coalesce(replayed.op_id, derived.op_id, recorded.op_id) AS op_id,
    CASE
        WHEN replayed.op_id IS NOT NULL THEN 'replayed'
        WHEN recorded.op_id IS NULL THEN 'derived'
        WHEN derived.op_id <> recorded.op_id THEN 'corrected'
        ELSE 'recorded'
    END AS link
FROM trace.kernel
LEFT JOIN module.recorded_link AS recorded USING (launch_id)
LEFT JOIN module.derived_link AS derived USING (launch_id)
LEFT JOIN trace.replayed_kernel AS replayed USING (kernel_id)
WHERE recorded.op_id IS NOT NULL OR derived.op_id IS NOT NULL OR replayed.op_id IS NOT NULL
