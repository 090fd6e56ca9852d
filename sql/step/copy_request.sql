-- One row is a copy and the moment in which the host requested it: when the op that the profile names for it started, else when
-- its task was put into the task queue, or without a queue when it was launched.
--
-- @guard trace.copy
--
-- copy_id   BIGINT  a copy of trace.copy; a copy without a known op or launch has no row
-- tid       BIGINT  host thread that requested it
-- asked_ns  BIGINT  moment of the request, Unix ns
WITH launch AS (
    SELECT copy.copy_id, min(launch.start_ns) AS start_ns, arg_min(launch.tid, (launch.start_ns, launch.tid)) AS tid
    FROM trace.copy
    JOIN trace.launch USING (launch_id)
    WHERE copy.op_id IS NULL
    GROUP BY copy.copy_id
),
last_dequeued AS (
    SELECT dequeue_tid, dequeue_start_ns, arg_max(queue_id, (dequeue_end_ns, queue_id)) AS queue_id
    FROM trace.queue
    GROUP BY dequeue_tid, dequeue_start_ns
),
near AS (
    SELECT launch.copy_id, launch.tid, launch.start_ns, last_dequeued.queue_id
    FROM launch
    ASOF LEFT JOIN last_dequeued
        ON last_dequeued.dequeue_tid = launch.tid AND last_dequeued.dequeue_start_ns <= launch.start_ns
)
SELECT
    near.copy_id,
    coalesce(arg_min(queue.enqueue_tid, (queue.enqueue_start_ns, queue.enqueue_tid)), min(near.tid)) AS tid,
    coalesce(min(queue.enqueue_start_ns), min(near.start_ns)) AS asked_ns
FROM near
LEFT JOIN trace.queue
    ON queue.queue_id = near.queue_id AND queue.dequeue_tid = near.tid AND queue.dequeue_end_ns >= near.start_ns
GROUP BY near.copy_id
UNION ALL
SELECT copy.copy_id, op.tid, op.start_ns
FROM trace.copy
JOIN trace.op USING (op_id)
