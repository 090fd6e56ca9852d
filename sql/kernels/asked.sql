-- One row is a kernel and the moment at which the host asked for it: the start of the op that launched it, or the graph that it
-- belongs to; without a task queue, that of the launch where it lies in no op.
--
-- kernel_id  BIGINT  a kernel of trace.kernel; those for which neither is known have no row
-- tid        BIGINT  host thread: process id * 2^32 + thread id
-- asked_ns   BIGINT  the moment, Unix ns
SELECT kernel_op.kernel_id, op.tid, op.start_ns AS asked_ns
FROM module.kernel_op
JOIN trace.op ON op.op_id = kernel_op.host_op_id
UNION ALL
SELECT kernel.kernel_id, bare_launch.tid, bare_launch.start_ns
FROM module.bare_launch
JOIN trace.kernel USING (launch_id)
LEFT JOIN module.kernel_op USING (kernel_id)
WHERE kernel_op.host_op_id IS NULL
