-- One row is the kernels outside modules that are backward work with an unknown forward op. Without such kernels, there is no
-- row.
--
-- @guard module.unpaired_task
--
-- kernel_count           BIGINT  number of these kernels
-- kernel_duration_ns     BIGINT  their time, ns
-- kernel_duration_share  DOUBLE  share of all kernel time; NULL when that is 0
WITH outside AS (
    SELECT kernel.duration_ns, op.tid, op.start_ns, op.end_ns
    FROM module.kernel
    JOIN trace.op ON op.op_id = kernel.op_id
    WHERE kernel.reason = 'outside every module'
),
lost AS (
    SELECT outside.duration_ns
    FROM outside
    ASOF JOIN module.unpaired_task AS task ON task.tid = outside.tid AND task.start_ns <= outside.start_ns
    WHERE task.end_ns >= outside.end_ns
)
SELECT
    count(*) AS kernel_count,
    sum(duration_ns)::BIGINT AS kernel_duration_ns,
    sum(duration_ns) / nullif((SELECT sum(duration_ns) FROM module.kernel), 0) AS kernel_duration_share
FROM lost
HAVING count(*) > 0
