-- One row is a block of 256 ops of a thread and the time that they span. A search for the ops around a moment reads a few
-- blocks instead of all ops. Profiler steps are left out, since they span everything.
--
-- block_id  BIGINT  op_id // 256
-- tid       BIGINT  host thread: process id * 2^32 + thread id
-- start_ns  BIGINT  start of its first op, Unix ns
-- end_ns    BIGINT  latest end of its ops, Unix ns
SELECT op.op_id // 256 AS block_id, op.tid, min(op.start_ns) AS start_ns, max(op.end_ns) AS end_ns
FROM trace.op
WHERE NOT op.is_step
GROUP BY block_id, op.tid
