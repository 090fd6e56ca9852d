-- One row is a block of 256 ops of a thread and the time that they span: who looks for the ops around a moment looks into a
-- few blocks, and need not meet all ops. Profiler steps are left out, since they span everything.
--
-- block_id  BIGINT  op_id // 256
-- tid       BIGINT  host thread: process id * 2^32 + thread id
-- start_ns  BIGINT  start of the first of them, Unix ns
-- end_ns    BIGINT  latest end, Unix ns
SELECT op.op_id // 256 AS block_id, op.tid, min(op.start_ns) AS start_ns, max(op.end_ns) AS end_ns
FROM trace.op
WHERE NOT op.is_step
GROUP BY block_id, op.tid
