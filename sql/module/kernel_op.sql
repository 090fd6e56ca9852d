-- One row is a kernel and the op that launched it, found through the launch, never through time on the device.
--
-- @keep
--
-- kernel_id   BIGINT   a kernel of trace.kernel; kernels that no op launched have no row
-- op_id       BIGINT   an op of trace.op; for a kernel of a replayed graph whose ops are known, an op of trace.replayed_op, and
--                      where only its place in the graph is known, host_op_id, else the place in trace.replayed_op
-- host_op_id  BIGINT   the op of trace.op that launched it, or launched the replayed graph that it belongs to; NULL where the
--                      graph was launched outside any op
-- link        VARCHAR  recorded in the profile; derived from the host's intervals where nothing is recorded; corrected where
--                      they prove another op than the recorded one; replayed for an op of trace.replayed_op
WITH replayed AS (
    SELECT replayed_kernel.kernel_id, replayed_op.op_id, replayed_op.is_op
    FROM trace.replayed_kernel
    JOIN trace.replayed_op USING (op_id)
)
SELECT
    kernel.kernel_id,
    if(replayed.is_op, replayed.op_id, coalesce(derived.op_id, recorded.op_id, replayed.op_id)) AS op_id,
    coalesce(derived.op_id, recorded.op_id) AS host_op_id,
    CASE
        WHEN replayed.is_op OR (derived.op_id IS NULL AND recorded.op_id IS NULL) THEN 'replayed'
        WHEN recorded.op_id IS NULL THEN 'derived'
        WHEN derived.op_id <> recorded.op_id THEN 'corrected'
        ELSE 'recorded'
    END AS link
FROM trace.kernel
LEFT JOIN module.recorded_link AS recorded USING (launch_id)
LEFT JOIN module.derived_link AS derived USING (launch_id)
LEFT JOIN replayed USING (kernel_id)
WHERE recorded.op_id IS NOT NULL OR derived.op_id IS NOT NULL OR replayed.op_id IS NOT NULL
