-- Both ends are PYTORCH_API rows, named Enqueue... and Dequeue..., whose groups in CONNECTION_IDS share a value. Where all
-- values of one end are lost, the order pairs them: a queue is first in, first out. The order must fit for each task: the names
-- of both ends agree (old writers write only Enqueue), and the task was taken out after it was put in.
WITH enqueued AS (
    SELECT link.connectionId AS queue_id, enqueue.*
    FROM raw.enqueue
    JOIN raw.connection_ids AS link ON link.id = enqueue.connectionId
    WHERE is_host_time(enqueue.startNs, enqueue.endNs) AND link.connectionId IS NOT NULL
),
dequeued AS (
    SELECT link.connectionId AS queue_id, dequeue.*
    FROM raw.dequeue
    JOIN raw.connection_ids AS link ON link.id = dequeue.connectionId
    WHERE is_host_time(dequeue.startNs, dequeue.endNs) AND link.connectionId IS NOT NULL
),
recorded_task AS (
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
),
no_link AS (
    SELECT true AS is_lost
    WHERE NOT EXISTS (FROM enqueued) OR NOT EXISTS (FROM dequeued)
),
in_order AS (
    SELECT
        position AS queue_id,
        enqueue.globalTid AS enqueue_tid,
        enqueue.startNs AS enqueue_start_ns,
        enqueue.endNs AS enqueue_end_ns,
        dequeue.globalTid AS dequeue_tid,
        dequeue.startNs AS dequeue_start_ns,
        dequeue.endNs AS dequeue_end_ns,
        enqueue_name.text IN ('Enqueue', replace(dequeue_name.text, 'Dequeue', 'Enqueue'))
            AND dequeue.startNs >= enqueue.startNs AS fits
    FROM (
        SELECT *, row_number() OVER (ORDER BY startNs, row_id) AS position
        FROM raw.enqueue
        CROSS JOIN no_link
        WHERE is_host_time(startNs, endNs)
    ) AS enqueue
    FULL JOIN (
        SELECT *, row_number() OVER (ORDER BY startNs, row_id) AS position
        FROM raw.dequeue
        CROSS JOIN no_link
        WHERE is_host_time(startNs, endNs)
    ) AS dequeue USING (position)
    LEFT JOIN trace.string AS enqueue_name ON enqueue_name.text_id = enqueue.name
    LEFT JOIN trace.string AS dequeue_name ON dequeue_name.text_id = dequeue.name
)
FROM recorded_task
UNION ALL
SELECT * EXCLUDE (fits)
FROM in_order
WHERE (SELECT bool_and(coalesce(fits, false)) AND count(DISTINCT dequeue_tid) = 1 FROM in_order)
