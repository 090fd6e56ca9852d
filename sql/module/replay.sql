-- One row is a launch of a replayed graph whose ops are known, and the place on the host around it.
--
-- @guard trace.replayed_op
--
-- launch_id  BIGINT  a launch of trace.replayed_op
-- op_id      BIGINT  the op around it, an op of trace.op; the launch itself, of module.bare_launch, where it lies in no op
WITH launch AS (
    SELECT DISTINCT launch_id
    FROM trace.replayed_op
    WHERE launch_id IS NOT NULL
)
SELECT launch.launch_id, coalesce(derived_link.op_id, recorded_link.op_id, bare_launch.op_id) AS op_id
FROM launch
LEFT JOIN module.derived_link USING (launch_id)
LEFT JOIN module.recorded_link USING (launch_id)
LEFT JOIN module.bare_launch USING (launch_id)
WHERE coalesce(derived_link.op_id, recorded_link.op_id, bare_launch.op_id) IS NOT NULL
