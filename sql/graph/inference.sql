-- One row is a call of a compiled graph, from the moment when its compiler takes over from Dynamo; a call inside another one
-- has no row. No two calls on a thread start or end at the same moment.
--
-- call_id          BIGINT   the op of trace.op that marks it
-- name_id          TEXT_ID  its name, such as npu_fx_compiler inference
-- tid              BIGINT   host thread: process id * 2^32 + thread id
-- start_ns         BIGINT   start, Unix ns
-- end_ns           BIGINT   end, Unix ns
-- previous_end_ns  BIGINT   end of the call before it on its thread, Unix ns; NULL for the first
WITH event AS (
    FROM graph.event
    WHERE role = 'inference'
)
SELECT op_id AS call_id, name_id, tid, start_ns, end_ns, reached_ns AS previous_end_ns
FROM reached_before(event, tid, op_id)
WHERE coalesce(start_ns >= reached_ns AND end_ns > reached_ns, true)
