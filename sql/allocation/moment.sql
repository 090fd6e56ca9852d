-- One row is a block of memory and a moment on a host thread at which its op may have run. A block that a queue thread
-- allocated has the moment at which its task was put into the queue.
--
-- block_id     BIGINT   a block of trace.memory_block
-- tid          BIGINT   host thread: process id * 2^32 + thread id; NULL for any thread that runs ops
-- moment_ns    BIGINT   the moment, Unix ns
-- name_id      TEXT_ID  the name of the op; NULL for any
-- is_of_queue  BOOLEAN  whether a queue thread allocated it
-- task_end_ns  BIGINT   when the queue thread had run the task, Unix ns; NULL for other threads
--
-- The allocator of the framework records no thread on some devices: then the block is of any thread, or of any task that ran at
-- that time. That of the library of operators works for the queue thread, if there is only one.
WITH queue_thread AS (
    SELECT min(tid) AS tid
    FROM trace.queue_thread
    HAVING count(*) = 1
),
block AS (
    SELECT
        block_id,
        allocated_ns,
        coalesce(memory_block.tid, if(role = 'operators', queue_thread.tid, NULL)) AS tid,
        if(memory_block.tid IS NULL AND role = 'framework', name_id, NULL) AS name_id
    FROM trace.memory_block
    LEFT JOIN queue_thread ON true
),
-- A snapshot of the allocator has stacks in place of threads, and often no name: then the time alone places a block.
unplaced_block AS (
    SELECT block_id, allocated_ns
    FROM trace.memory_block
    WHERE tid IS NULL AND name_id IS NULL AND stack_id IS NOT NULL AND allocated_ns IS NOT NULL
),
op_thread AS (SELECT DISTINCT tid FROM trace.op WHERE NOT is_step),
dequeue_thread AS (SELECT DISTINCT dequeue_tid AS tid FROM trace.queue),
-- The threads whose tasks may have allocated a block.
asked AS (
    SELECT block.*, dequeue_thread.tid AS dequeue_tid
    FROM block
    -- All pairs: threads that run tasks are few.
    CROSS JOIN dequeue_thread
    WHERE block.tid IS NULL AND block.name_id IS NOT NULL
    UNION ALL
    SELECT block.*, block.tid
    FROM block
    WHERE block.tid IS NOT NULL
),
last_dequeued AS (
    SELECT dequeue_tid, dequeue_start_ns, arg_max(queue_id, (dequeue_end_ns, queue_id)) AS queue_id
    FROM trace.queue
    GROUP BY dequeue_tid, dequeue_start_ns
),
of_task AS (
    SELECT
        asked.block_id,
        queue.enqueue_tid AS tid,
        queue.enqueue_start_ns AS moment_ns,
        asked.name_id,
        true AS is_of_queue,
        queue.dequeue_end_ns AS task_end_ns
    FROM asked
    ASOF JOIN last_dequeued
        ON last_dequeued.dequeue_tid = asked.dequeue_tid AND last_dequeued.dequeue_start_ns <= asked.allocated_ns
    JOIN trace.queue
        ON queue.queue_id = last_dequeued.queue_id
        AND queue.dequeue_tid = asked.dequeue_tid
        AND queue.dequeue_end_ns >= asked.allocated_ns
)
FROM of_task
UNION ALL
SELECT unplaced_block.block_id, op_thread.tid, unplaced_block.allocated_ns, NULL, false, NULL
FROM unplaced_block
-- All pairs: threads that run ops are few.
CROSS JOIN op_thread
UNION ALL
SELECT block_id, tid, allocated_ns, name_id, false, NULL
FROM block
WHERE tid IS NOT NULL OR name_id IS NOT NULL
