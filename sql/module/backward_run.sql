-- One row is a run of backward work of one module call: backward ops that follow each other on a thread and whose forward ops
-- all belong to the same module range. A call whose backward is interrupted by that of another call has several runs.
--
-- run_id    BIGINT  the id, in the order of (thread, start)
-- range_id  BIGINT  the range of module.range whose gradient is computed
-- tid       BIGINT  host thread of the backward ops: process id * 2^32 + thread id
-- start_ns  BIGINT  start of the first backward op, Unix ns
-- end_ns    BIGINT  end of the last backward op to end, Unix ns
WITH backward_op AS (
    SELECT backward.op_id, backward.tid, backward.start_ns, backward.end_ns, forward_owner.range_id
    FROM trace.forward_backward
    JOIN module.forward_owner ON forward_owner.op_id = forward_backward.forward_op_id
    JOIN trace.op AS forward ON forward.op_id = forward_backward.forward_op_id
    JOIN trace.op AS backward ON backward.op_id = forward_backward.backward_op_id
    WHERE backward.start_ns > forward.end_ns
),
marked AS (
    SELECT *, range_id IS DISTINCT FROM lag(range_id) OVER (PARTITION BY tid ORDER BY start_ns, op_id) AS begins_run
    FROM backward_op
),
numbered AS (
    SELECT *, sum(begins_run::INTEGER) OVER (ORDER BY tid, start_ns, op_id ROWS UNBOUNDED PRECEDING)::BIGINT AS run_id
    FROM marked
)
SELECT run_id, range_id, tid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
FROM numbered
GROUP BY run_id, range_id, tid
