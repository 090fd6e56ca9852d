-- One row is a gap of the device and the host's request for the kernel that ended it.
--
-- gap_id         BIGINT  a gap of free.gap
-- tid            BIGINT  host thread that made the request: the one that put the task into the queue, else that of the op or of
--                        the launch; NULL when neither launch nor op of the kernel is recorded
-- asked_ns       BIGINT  moment of the request, Unix ns: when the thread began to put the task into the queue; without a task
--                        queue, the start of the launch; where the launch was not collected, the end of the op; NULL when tid
--                        is NULL
-- launch_tid     BIGINT  host thread that launched the kernel; with a task queue, not the one that made the request; NULL when
--                        the launch was not collected
-- launch_end_ns  BIGINT  moment when that thread had launched the kernel, Unix ns; NULL when the launch was not collected
WITH wanted_kernel AS (
    SELECT gap.gap_id, kernel.kernel_id, kernel.launch_id
    FROM free.gap
    JOIN trace.kernel ON kernel.kernel_id = gap.kernel_after_id
),
launch AS (
    SELECT
        launch.launch_id,
        min(launch.start_ns) AS start_ns,
        arg_min(launch.end_ns, pair_key(launch.start_ns, launch.tid)) AS end_ns,
        arg_min(launch.tid, pair_key(launch.start_ns, launch.tid)) AS tid
    FROM trace.launch
    SEMI JOIN wanted_kernel USING (launch_id)
    GROUP BY launch.launch_id
),
last_dequeued AS (
    SELECT dequeue_tid, dequeue_start_ns, arg_max(queue_id, pair_key(dequeue_end_ns, queue_id)) AS queue_id
    FROM trace.queue
    GROUP BY dequeue_tid, dequeue_start_ns
),
near AS (
    SELECT launch.launch_id, launch.tid, launch.start_ns, last_dequeued.queue_id
    FROM launch
    ASOF JOIN last_dequeued
        ON last_dequeued.dequeue_tid = launch.tid AND last_dequeued.dequeue_start_ns <= launch.start_ns
),
queued AS (
    SELECT
        near.launch_id,
        min(queue.enqueue_start_ns) AS start_ns,
        arg_min(queue.enqueue_tid, pair_key(queue.enqueue_start_ns, queue.enqueue_tid)) AS tid
    FROM near
    JOIN trace.queue
        ON queue.queue_id = near.queue_id AND queue.dequeue_tid = near.tid AND queue.dequeue_end_ns >= near.start_ns
    GROUP BY near.launch_id
),
asked AS (
    SELECT
        wanted_kernel.gap_id,
        wanted_kernel.kernel_id,
        launch.tid AS launch_tid,
        launch.start_ns AS launch_start_ns,
        launch.end_ns AS launch_end_ns,
        queued.tid AS queued_tid,
        queued.start_ns AS queued_ns
    FROM wanted_kernel
    LEFT JOIN launch USING (launch_id)
    LEFT JOIN queued USING (launch_id)
),
-- With a task queue few kernels need their op: at a million kernels 2.7 s of CPU in place of 3.8.
op AS (
    SELECT asked.kernel_id, op.tid, op.end_ns
    FROM asked
    JOIN module.kernel_op USING (kernel_id)
    JOIN trace.op USING (op_id)
    WHERE asked.queued_tid IS NULL OR asked.queued_ns IS NULL
)
SELECT
    asked.gap_id,
    coalesce(asked.queued_tid, op.tid, asked.launch_tid) AS tid,
    CASE
        WHEN asked.queued_ns IS NOT NULL THEN asked.queued_ns
        WHEN op.tid = asked.launch_tid OR op.tid IS NULL THEN asked.launch_start_ns
        ELSE op.end_ns
    END AS asked_ns,
    asked.launch_tid,
    asked.launch_end_ns
FROM asked
LEFT JOIN op USING (kernel_id)
