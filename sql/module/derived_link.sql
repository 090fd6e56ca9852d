-- One row is a doubtful launch and the op that the host's intervals prove: the launch lies in the run of a task that a queue
-- thread took out, and the same task was put in within an op; without a task queue, the launch lies in the op itself.
--
-- launch_id   BIGINT   a launch of module.doubtful_launch
-- is_on_host  BOOLEAN  whether the profile holds the launch's call on the host
-- op_id       BIGINT   the innermost op around it; NULL when no op is
--
-- Only when module.doubtful_launch has rows.
WITH host_call AS (
    SELECT doubtful.launch_id, launch.tid, min(launch.start_ns) AS start_ns, max(launch.end_ns) AS end_ns
    FROM module.doubtful_launch AS doubtful
    LEFT JOIN trace.launch USING (launch_id)
    GROUP BY doubtful.launch_id, launch.tid
),
last_dequeued AS (
    SELECT dequeue_tid, dequeue_start_ns, arg_max(queue_id, (dequeue_end_ns, queue_id)) AS queue_id
    FROM trace.queue
    GROUP BY dequeue_tid, dequeue_start_ns
),
-- Where the op's own thread stood when it asked for the launch.
request AS (
    SELECT
        host_call.launch_id,
        coalesce(queue.enqueue_tid, host_call.tid) AS tid,
        coalesce(queue.enqueue_start_ns, host_call.start_ns) AS start_ns,
        coalesce(queue.enqueue_end_ns, host_call.end_ns) AS end_ns
    FROM host_call
    ASOF LEFT JOIN last_dequeued
        ON last_dequeued.dequeue_tid = host_call.tid AND last_dequeued.dequeue_start_ns <= host_call.start_ns
    LEFT JOIN trace.queue
        ON queue.queue_id = last_dequeued.queue_id
        AND queue.dequeue_tid = host_call.tid
        AND queue.dequeue_end_ns >= host_call.end_ns
),
near AS (
    SELECT request.*, block.block_id
    FROM request
    JOIN op.block ON block.tid = request.tid AND block.start_ns <= request.start_ns AND block.end_ns >= request.end_ns
),
around AS (
    SELECT near.launch_id, arg_max(op.op_id, (op.start_ns, -op.end_ns, op.op_id)) AS op_id
    FROM near
    JOIN trace.op
        ON op.op_id // 256 = near.block_id AND op.tid = near.tid AND op.start_ns <= near.start_ns AND op.end_ns >= near.end_ns
    LEFT JOIN trace.string ON string.text_id = op.name_id
    WHERE NOT starts_with(coalesce(string.text, ''), 'ProfilerStep#')
    GROUP BY near.launch_id
)
SELECT host_call.launch_id, bool_or(host_call.tid IS NOT NULL) AS is_on_host, max(around.op_id) AS op_id
FROM host_call
LEFT JOIN around USING (launch_id)
GROUP BY host_call.launch_id
