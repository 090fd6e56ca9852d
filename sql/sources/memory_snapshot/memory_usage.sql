-- What is held at each event follows from the blocks, and from the segments at the end without what was taken after the event.
-- What other components hold is recorded by the profile of the same process beside the snapshot, which may number devices
-- otherwise: a profile of one device is of that of the snapshot.
WITH history AS (
    SELECT device_id, min(time_ns) AS first_ns, max(time_ns) AS last_ns
    FROM trace.memory_event
    GROUP BY device_id
),
block AS (
    SELECT
        memory_block.*,
        -- What was released before the history was not allocated in it.
        if(memory_block.released_ns >= history.first_ns, memory_block.released_ns, NULL) AS gone_ns,
        memory_block.released_ns < memory_block.reusable_ns AND memory_block.reusable_ns > history.last_ns AS is_awaited
    FROM trace.memory_block
    LEFT JOIN history USING (device_id)
),
-- Before the history there is what the segments hold at the end, without what the history took.
reserved_before AS (
    SELECT device_id, sum(size_bytes) AS reserved
    FROM (
        SELECT device_id, size_bytes
        FROM trace.memory_segment
        UNION ALL
        SELECT device_id, if(kind = 'segment', -size_bytes, size_bytes)
        FROM trace.memory_event
        WHERE kind IN ('segment', 'segment release')
    ) AS taken
    GROUP BY device_id
),
change AS (
    SELECT
        device_id,
        allocated_ns AS time_ns,
        size_bytes AS allocated,
        size_bytes AS active,
        requested_bytes AS requested,
        0 AS reserved
    FROM block
    UNION ALL
    SELECT device_id, gone_ns, -size_bytes, 0, -requested_bytes, 0
    FROM block
    WHERE released_ns IS NOT NULL
    UNION ALL
    SELECT device_id, greatest(released_ns, reusable_ns), 0, -size_bytes, 0, 0
    FROM block
    WHERE reusable_ns IS NOT NULL AND NOT coalesce(is_awaited, false)
    UNION ALL
    SELECT device_id, time_ns, 0, 0, 0, if(kind = 'segment', size_bytes, -size_bytes)
    FROM trace.memory_event
    WHERE kind IN ('segment', 'segment release') AND size_bytes IS NOT NULL
    UNION ALL
    SELECT device_id, time_ns, 0, 0, 0, 0
    FROM trace.memory_event
    UNION ALL
    SELECT device_id, NULL, 0, 0, 0, greatest(reserved, 0)
    FROM reserved_before
),
change_at_moment AS (
    SELECT
        device_id,
        time_ns,
        sum(allocated) AS allocated,
        sum(active) AS active,
        sum(requested) AS requested,
        sum(reserved) AS reserved
    FROM change
    GROUP BY device_id, time_ns
),
total AS (
    SELECT
        device_id,
        time_ns,
        sum(allocated) OVER of_device AS allocated_bytes,
        sum(reserved) OVER of_device AS reserved_bytes,
        sum(active) OVER of_device AS active_bytes,
        sum(requested) OVER of_device AS requested_bytes,
        min(time_ns) OVER (PARTITION BY device_id) AS first_ns
    FROM change_at_moment
    WINDOW of_device AS (PARTITION BY device_id ORDER BY time_ns NULLS FIRST)
),
last AS (SELECT coalesce(max(event_id), 0) AS event_id FROM trace.memory_event),
beside AS (
    SELECT *, min(device_id) OVER () IS NOT DISTINCT FROM max(device_id) OVER () AS is_of_one_device
    FROM raw.beside_memory_usage
    WHERE role <> 'framework'
)
SELECT
    coalesce(event.event_id, if(total.time_ns IS NULL, -1, last.event_id + 1)) AS usage_id,
    'PyTorch' AS component,
    'framework'::ENUM('framework', 'operators', 'workspace', 'process', 'device', 'program', 'part') AS role,
    total.device_id,
    coalesce(total.time_ns, total.first_ns - 1) AS time_ns,
    total.allocated_bytes::BIGINT AS allocated_bytes,
    total.reserved_bytes::BIGINT AS reserved_bytes,
    total.active_bytes::BIGINT AS active_bytes,
    total.requested_bytes::BIGINT AS requested_bytes
FROM total
LEFT JOIN trace.memory_event AS event
    ON event.device_id = total.device_id AND event.time_ns = total.time_ns
CROSS JOIN last
UNION ALL
SELECT
    last.event_id + 2 + beside.usage_id,
    beside.component,
    beside.role::ENUM('framework', 'operators', 'workspace', 'process', 'device', 'program', 'part'),
    if(beside.is_of_one_device, coalesce(device.device_id, beside.device_id), beside.device_id),
    beside.time_ns,
    beside.allocated_bytes,
    beside.reserved_bytes,
    beside.active_bytes,
    beside.requested_bytes
FROM beside
CROSS JOIN last
CROSS JOIN (SELECT min(device_id) AS device_id FROM total) AS device
WHERE beside.is_of_one_device OR is_on_device(beside.device_id)
