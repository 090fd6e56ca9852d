-- One row is a range or op on the host that an engine for serving wrote, as in pass.annotation.
--
-- @guard pass.annotation
--
-- mark_id   BIGINT   the id, counted from 1 in the order of time, longest first
-- name_id   TEXT_ID  a name of pass.annotation
-- what      ENUM('pass', 'forward', 'draft', 'capture', 'scheduling', 'preparing', 'sampling', 'detokenising')  as there
-- tid       BIGINT   host thread: process id * 2^32 + thread id
-- start_ns  BIGINT   start, Unix ns
-- end_ns    BIGINT   end, Unix ns
WITH interval AS (
    SELECT recorded_name_id AS name_id, tid, start_ns, end_ns
    FROM trace.range
    UNION ALL
    SELECT name_id, tid, start_ns, end_ns
    FROM trace.op
)
SELECT
    row_number() OVER (ORDER BY start_ns, end_ns DESC, tid, name_id) AS mark_id,
    name_id,
    annotation.what,
    tid,
    start_ns,
    end_ns
FROM interval
JOIN pass.annotation USING (name_id)
