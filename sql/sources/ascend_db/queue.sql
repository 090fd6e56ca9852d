-- Both ends are PYTORCH_API rows, named Enqueue... and Dequeue..., whose groups in CONNECTION_IDS share a value.
WITH enqueued AS (
    SELECT link.connectionId AS queue_id, enqueue.*
    FROM raw.enqueue
    JOIN raw.connection_ids AS link ON link.id = enqueue.connectionId
    WHERE enqueue.endNs >= enqueue.startNs
),
dequeued AS (
    SELECT link.connectionId AS queue_id, dequeue.*
    FROM raw.dequeue
    JOIN raw.connection_ids AS link ON link.id = dequeue.connectionId
    WHERE dequeue.endNs >= dequeue.startNs
)
SELECT
    queue_id,
    enqueued.globalTid AS enqueue_tid,
    enqueued.startNs AS enqueue_start_ns,
    enqueued.endNs AS enqueue_end_ns,
    dequeued.globalTid AS dequeue_tid,
    dequeued.startNs AS dequeue_start_ns,
    dequeued.endNs AS dequeue_end_ns
FROM enqueued
JOIN dequeued USING (queue_id)
