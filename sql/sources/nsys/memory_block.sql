-- An allocation and the next event at its address in its process are a block and its release; where that is another allocation,
-- the block was released unseen, at the latest then. A release without anything before it is of a block from before the
-- recording; a second release is of none. The call of CUDA says which thread asked for the memory.
WITH event AS (
    SELECT
        *,
        lead(start_ns) OVER at_address AS next_ns,
        row_number() OVER at_address = 1 AS is_first
    FROM raw.memory_event
    WHERE is_memory_of_device(memory_kind) AND address IS NOT NULL AND is_size(size_bytes) AND is_moment(start_ns)
    WINDOW at_address AS (PARTITION BY pid, device_id, address ORDER BY start_ns, event_id)
),
call AS (
    SELECT pid, correlation, min(tid) AS tid
    FROM raw.runtime_call
    WHERE correlation IS NOT NULL
    GROUP BY pid, correlation
)
SELECT
    event.event_id AS block_id,
    'CUDA' AS component,
    'process'::ENUM('framework', 'operators', 'process') AS role,
    event.device_id,
    event.stream_id,
    thread_id(event.pid, call.tid) AS tid,
    NULL::BIGINT AS name_id,
    event.size_bytes,
    if(event.is_release, NULL, event.start_ns) AS allocated_ns,
    if(event.is_release, event.start_ns, event.next_ns) AS released_ns,
    NULL::BIGINT AS reusable_ns,
    NULL::BIGINT AS requested_bytes,
    NULL::BIGINT AS stack_id
FROM event
LEFT JOIN call USING (pid, correlation)
WHERE event.is_release IS NOT TRUE OR event.is_first
