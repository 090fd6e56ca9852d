-- One row is a sequence number of a host thread and the last forward op that carries it.
--
-- tid              BIGINT  host thread: process id * 2^32 + thread id
-- sequence_number  BIGINT  autograd sequence number
-- first_start_ns   BIGINT  start of the first forward op with it, Unix ns
-- last_start_ns    BIGINT  start of the last one, Unix ns
-- op_id            BIGINT  the last one
--
-- An op carries the number that the next node gets, so of the ops that carry one number the last to start made the node. A
-- forward thread marks an op as a backward op; ops for which none is recorded are forward ops.
SELECT
    tid,
    sequence_number,
    min(start_ns) AS first_start_ns,
    max(start_ns) AS last_start_ns,
    arg_max(op_id, (start_ns, op_id)) AS op_id
FROM trace.op
WHERE sequence_number IS NOT NULL AND coalesce(forward_thread_id, 0) = 0
GROUP BY tid, sequence_number
