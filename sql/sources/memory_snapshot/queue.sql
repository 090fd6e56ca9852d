-- From the profile of the same process beside the snapshot.
SELECT
    queue_id,
    enqueue_tid,
    enqueue_start_ns,
    enqueue_end_ns,
    dequeue_tid,
    dequeue_start_ns,
    dequeue_end_ns
FROM raw.beside_queue
