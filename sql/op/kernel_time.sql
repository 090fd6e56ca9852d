-- One row is an op that launched kernels, itself (self) or through the ops inside it (total), with their time.
--
-- op_id            BIGINT  an op of trace.op or trace.replayed_op; around the latter is the op that launched the graph
-- kernel_count     BIGINT  kernels that it launched itself
-- device_self_ns   BIGINT  time of these kernels, ns; overlapping kernels count fully
-- device_total_ns  BIGINT  time of these kernels and of those that the ops inside it launched, ns
WITH RECURSIVE launched_kernels AS (
    SELECT kernel_op.op_id, count(*) AS kernel_count, sum(kernel.duration_ns)::BIGINT AS duration_ns
    FROM module.kernel_op
    JOIN trace.kernel USING (kernel_id)
    GROUP BY kernel_op.op_id
),
inner_op AS (
    SELECT op_id, parent_id
    FROM op.parent
    WHERE parent_id IS NOT NULL
    UNION ALL
    SELECT replayed_op.op_id, replay.op_id
    FROM trace.replayed_op
    JOIN module.replay USING (launch_id)
    JOIN trace.op ON op.op_id = replay.op_id
),
-- Each round carries kernel time one op further out.
carried AS (
    SELECT op_id, kernel_count, duration_ns AS self_ns, duration_ns
    FROM launched_kernels
    UNION ALL
    SELECT inner_op.parent_id, 0, 0, sum(carried.duration_ns)::BIGINT
    FROM carried
    JOIN inner_op USING (op_id)
    GROUP BY inner_op.parent_id
)
SELECT
    op_id,
    max(kernel_count) AS kernel_count,
    max(self_ns) AS device_self_ns,
    sum(duration_ns)::BIGINT AS device_total_ns
FROM carried
GROUP BY op_id
