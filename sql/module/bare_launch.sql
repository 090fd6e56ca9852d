-- One row is a launch outside any op, on the thread that asked for it: a graph that is replayed, or a kernel that Python code
-- launches by itself. The modules around the call are those of its kernels.
--
-- @guard module.direct_launching
--
-- op_id      BIGINT   the id, below 0: no id of trace.op or trace.replayed_op
-- launch_id  BIGINT   a launch of trace.kernel
-- tid        BIGINT   host thread: process id * 2^32 + thread id
-- name_id    TEXT_ID  name of the call, as in trace.launch
-- is_replay  BOOLEAN  whether it replays a graph
-- start_ns   BIGINT   start, Unix ns
-- end_ns     BIGINT   end, Unix ns
--
-- With a task queue, a launch lies on a thread of the queue.
SELECT
    -2 * row_number() OVER (ORDER BY launch.launch_id) AS op_id,
    launch.launch_id,
    arg_min(launch.tid, (launch.start_ns, launch.tid)) AS tid,
    arg_min(launch.name_id, (launch.start_ns, launch.tid)) AS name_id,
    bool_or(launch.is_replay) AS is_replay,
    min(launch.start_ns) AS start_ns,
    arg_min(launch.end_ns, (launch.start_ns, launch.tid)) AS end_ns
FROM module.derived_link
JOIN trace.launch USING (launch_id)
WHERE derived_link.op_id IS NULL
GROUP BY launch.launch_id
