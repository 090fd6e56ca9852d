-- One row is an interval of a module call on a host thread: its forward range, or a run of its backward.
--
-- call_id   BIGINT   position in the order (thread, start, longest first), as in module.range
-- tid       BIGINT   host thread: process id * 2^32 + thread id
-- name_id   TEXT_ID  class name of the module; NULL when the profile lost its text
-- start_ns  BIGINT   start, Unix ns
-- end_ns    BIGINT   end, Unix ns
-- range_id  BIGINT   the range of module.range that it is, or whose gradient it computes
-- is_run    BOOLEAN  true for a backward run, false for a forward range
WITH interval AS (
    SELECT tid, name_id, start_ns, end_ns, range_id, 0 AS run_id
    FROM module.range
    UNION ALL BY NAME
    SELECT run.tid, range.name_id, run.start_ns, run.end_ns, run.range_id, run.run_id
    FROM module.backward_run AS run
    JOIN module.range USING (range_id)
)
SELECT
    row_number() OVER (ORDER BY tid, start_ns, end_ns DESC, run_id, range_id) AS call_id,
    tid,
    name_id,
    start_ns,
    end_ns,
    range_id,
    run_id > 0 AS is_run
FROM interval
