-- Both ends are PYTORCH_API rows of type 50002, named Enqueue... and Dequeue..., whose groups in CONNECTION_IDS share a
-- value.
WITH queue_end AS (
    SELECT
        link.connectionId AS queue_id,
        starts_with(string.text, 'Enqueue') AS is_enqueue,
        api.globalTid,
        api.startNs,
        api.endNs
    FROM raw.pytorch_api AS api
    JOIN trace.string ON string.text_id = api.name
    JOIN raw.connection_ids AS link ON link.id = api.connectionId
    WHERE api.endNs >= api.startNs AND (starts_with(string.text, 'Enqueue') OR starts_with(string.text, 'Dequeue'))
)
SELECT
    queue_id,
    enqueue.globalTid AS enqueue_tid,
    enqueue.startNs AS enqueue_start_ns,
    enqueue.endNs AS enqueue_end_ns,
    dequeue.globalTid AS dequeue_tid,
    dequeue.startNs AS dequeue_start_ns,
    dequeue.endNs AS dequeue_end_ns
FROM queue_end AS enqueue
JOIN queue_end AS dequeue USING (queue_id)
WHERE enqueue.is_enqueue AND NOT dequeue.is_enqueue
