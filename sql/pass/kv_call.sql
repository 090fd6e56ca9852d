-- One row is a range, op or call on the host that moves the KV cache, the outermost one on its thread. With a step chosen, only
-- those of that step.
--
-- @guard pass.kv_name
--
-- tid       BIGINT   host thread: process id * 2^32 + thread id
-- name_id   TEXT_ID  a name of pass.kv_name
-- mover     VARCHAR  as there
-- start_ns  BIGINT   start, Unix ns; on a thread no two are equal
-- end_ns    BIGINT   end, Unix ns
WITH interval AS (
    SELECT recorded_name_id AS name_id, tid, start_ns, end_ns
    FROM trace.range
    UNION ALL
    SELECT name_id, tid, start_ns, end_ns
    FROM trace.op
    UNION ALL
    SELECT name_id, tid, start_ns, end_ns
    FROM trace.host_api
),
call AS (
    SELECT tid, name_id, mover, start_ns, end_ns
    FROM interval
    JOIN pass.kv_name USING (name_id)
),
outermost AS (
    SELECT * EXCLUDE (reached_ns)
    FROM reached_before(call, tid, turn := name_id)
    WHERE reached_ns IS NULL OR reached_ns < end_ns
)
SELECT outermost.*
FROM outermost
ASOF LEFT JOIN step.period ON outermost.start_ns >= period.start_ns
WHERE getvariable('step_id') IS NULL OR (period.step_id = getvariable('step_id') AND outermost.start_ns < period.end_ns)
