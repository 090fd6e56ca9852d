SELECT
    enqueue.correlation_id AS queue_id,
    thread_id(enqueue.pid, enqueue.tid) AS enqueue_tid,
    enqueue.start_ns AS enqueue_start_ns,
    enqueue.end_ns AS enqueue_end_ns,
    thread_id(dequeue.pid, dequeue.tid) AS dequeue_tid,
    dequeue.start_ns AS dequeue_start_ns,
    dequeue.end_ns AS dequeue_end_ns
FROM raw.queue_call AS enqueue
JOIN raw.queue_call AS dequeue USING (correlation_id)
WHERE enqueue.is_enqueue
  AND NOT dequeue.is_enqueue
  AND is_host_time(enqueue.start_ns, enqueue.end_ns)
  AND is_host_time(dequeue.start_ns, dequeue.end_ns)
