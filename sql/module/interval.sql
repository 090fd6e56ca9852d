-- One row is an interval on a host thread that says where work belongs: a module's forward call, or a task of the autograd
-- engine.
--
-- @keep
--
-- interval_id      BIGINT   position in the order (thread, start, longest first): of two intervals that contain an op on its
--                           thread, the one with the larger interval_id is the inner one
-- tid              BIGINT   host thread: process id * 2^32 + thread id; below 0 for a replayed graph
-- start_ns         BIGINT   start, Unix ns
-- end_ns           BIGINT   end, Unix ns
-- kind             ENUM('module', 'backward', 'gradient')  a forward call of a module; backward work of a forward op;
--                                                          accumulation of a gradient
-- name_id          TEXT_ID  class name of the module; NULL for a task
-- forward_op_id    BIGINT   the forward op of backward work; NULL for the others
-- begins_backward  BOOLEAN  true for a module call of the backward, as in module.range; else false
-- is_last_started  BOOLEAN  whether it is the last one, in this order, of those that start when it starts, on its thread
WITH interval AS (
    SELECT tid, start_ns, end_ns, 'module' AS kind, name_id, is_backward, range_id AS id
    FROM module.range
    UNION ALL BY NAME
    SELECT
        tid,
        start_ns,
        end_ns,
        if(forward_op_id IS NULL, 'gradient', 'backward') AS kind,
        forward_op_id,
        task_id AS id
    FROM module.autograd_task
)
SELECT
    row_number() OVER in_order AS interval_id,
    tid,
    start_ns,
    end_ns,
    kind::ENUM('module', 'backward', 'gradient') AS kind,
    name_id,
    forward_op_id,
    coalesce(is_backward, false) AS begins_backward,
    lead(tid) OVER in_order IS DISTINCT FROM tid OR lead(start_ns) OVER in_order IS DISTINCT FROM start_ns AS is_last_started
FROM interval
WINDOW in_order AS (ORDER BY tid, start_ns, end_ns DESC, kind = 'module' DESC, id)
