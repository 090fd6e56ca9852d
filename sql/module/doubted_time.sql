-- One row is the kernel time in the calls of module.doubted_call, whose paths may lack the modules around them.
--
-- @guard module.doubted_call
--
-- call_count          BIGINT  calls of module.doubted_call
-- kernel_count        BIGINT  kernels in them, in the calls inside them, and in the backward of both
-- kernel_duration_ns  BIGINT  their time, ns
WITH RECURSIVE link AS (
    SELECT parent_id AS around_id, interval_id
    FROM module.interval_parent
    WHERE parent_id IS NOT NULL
    UNION ALL
    SELECT op_interval.interval_id, interval.interval_id
    FROM module.interval
    JOIN module.op_interval ON op_interval.op_id = interval.forward_op_id
),
inside AS (
    FROM module.doubted_call
    UNION
    SELECT link.interval_id
    FROM inside
    JOIN link ON link.around_id = inside.interval_id
)
SELECT
    (SELECT count(*) FROM module.doubted_call) AS call_count,
    count(*) AS kernel_count,
    sum(kernel.duration_ns)::BIGINT AS kernel_duration_ns
FROM module.kernel
JOIN inside USING (interval_id)
HAVING count(*) > 0
