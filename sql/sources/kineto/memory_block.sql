-- An event with an address and signed bytes is an allocation or a release. The next event at the address of an allocation is
-- its release; where it is another allocation, the block was released unseen, at the latest then. A release of what was
-- allocated before the recording, and a second one, is no block.
WITH event AS (
    SELECT
        *,
        lead(start_ns) OVER at_address AS next_ns
    FROM raw.memory_event
    WHERE device_type <> 0 AND address IS NOT NULL AND is_change(size_bytes) AND is_moment(start_ns)
    WINDOW at_address AS (PARTITION BY device_type, device_id, address ORDER BY start_ns, event_id)
)
SELECT
    event_id AS block_id,
    name_of_device_type(device_type) AS component,
    'framework'::ENUM('framework', 'operators', 'process') AS role,
    device_id,
    NULL::BIGINT AS stream_id,
    thread_id(pid, tid) AS tid,
    NULL::BIGINT AS name_id,
    size_bytes,
    start_ns AS allocated_ns,
    next_ns AS released_ns,
    NULL::BIGINT AS reusable_ns,
    NULL::BIGINT AS requested_bytes,
    NULL::BIGINT AS stack_id
FROM event
WHERE size_bytes > 0 AND NOT getvariable('memory_is_beside')
