-- One row is an op, or a host call outside every op, that launched kernels of kernels.selected. A profiler step is no op here:
-- kernels that it launched itself belong to its host calls.
--
-- tid           BIGINT  host thread: process id * 2^32 + thread id
-- start_ns      BIGINT  start, Unix ns
-- end_ns        BIGINT  end, Unix ns
-- kernel_count  BIGINT  kernels that it launched
-- duration_ns   BIGINT  their time, ns
WITH issuing_op AS (
    FROM trace.op
    WHERE NOT is_step
),
kernel AS (
    SELECT
        selected.duration_ns,
        issuing_op.op_id,
        if(issuing_op.op_id IS NULL, kernel.launch_id, NULL) AS launch_id
    FROM kernels.selected
    JOIN trace.kernel USING (kernel_id)
    LEFT JOIN module.kernel_op USING (kernel_id)
    LEFT JOIN issuing_op ON issuing_op.op_id = kernel_op.op_id
),
launched_kernels AS (
    SELECT op_id, launch_id, count(*) AS kernel_count, sum(duration_ns)::BIGINT AS duration_ns
    FROM kernel
    WHERE op_id IS NOT NULL OR launch_id IS NOT NULL
    GROUP BY op_id, launch_id
),
host_call AS (
    FROM trace.launch
    WHERE launch_id IN (SELECT launch_id FROM launched_kernels)
    QUALIFY row_number() OVER (PARTITION BY launch_id ORDER BY start_ns, end_ns, tid) = 1
)
SELECT op.tid, op.start_ns, op.end_ns, launched_kernels.kernel_count, launched_kernels.duration_ns
FROM launched_kernels
JOIN trace.op USING (op_id)
UNION ALL
SELECT host_call.tid, host_call.start_ns, host_call.end_ns, launched_kernels.kernel_count, launched_kernels.duration_ns
FROM launched_kernels
JOIN host_call USING (launch_id)
