-- One row is a call of a compiled graph, from the moment when its compiler takes over from Dynamo; a call inside another one
-- has no row. No two calls on a thread start or end at the same moment.
--
-- call_id          BIGINT   the op of trace.op that marks it
-- name_id          TEXT_ID  its name, such as npu_fx_compiler inference
-- tid              BIGINT   host thread: process id * 2^32 + thread id
-- start_ns         BIGINT   start, Unix ns
-- end_ns           BIGINT   end, Unix ns
-- previous_end_ns  BIGINT   end of the call before it on its thread, Unix ns; NULL for the first
SELECT
    op_id AS call_id,
    name_id,
    tid,
    start_ns,
    end_ns,
    max(end_ns) OVER (
        PARTITION BY tid ORDER BY start_ns, end_ns DESC, op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS previous_end_ns
FROM graph.event
WHERE role = 'inference'
QUALIFY coalesce(start_ns >= previous_end_ns AND end_ns > previous_end_ns, true)
