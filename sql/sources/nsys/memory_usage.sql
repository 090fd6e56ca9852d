-- What the blocks add up to. A block that was allocated before the recording counts from its first moment.
WITH change AS (
    SELECT component, device_id, allocated_ns AS time_ns, size_bytes AS change
    FROM trace.memory_block
    WHERE allocated_ns IS NOT NULL
    UNION ALL
    SELECT component, device_id, released_ns, -size_bytes
    FROM trace.memory_block
    WHERE released_ns IS NOT NULL
),
change_of_moment AS (
    SELECT component, device_id, time_ns, sum(change) AS change
    FROM change
    GROUP BY component, device_id, time_ns
),
held_before AS (
    SELECT component, device_id, sum(size_bytes) AS size_bytes
    FROM trace.memory_block
    WHERE allocated_ns IS NULL
    GROUP BY component, device_id
)
SELECT
    row_number() OVER (ORDER BY moment.time_ns, moment.component, moment.device_id) AS usage_id,
    moment.component,
    'process'::ENUM('framework', 'operators', 'workspace', 'process', 'device', 'program', 'part') AS role,
    moment.device_id,
    moment.time_ns,
    (coalesce(held_before.size_bytes, 0) + sum(moment.change) OVER of_device)::BIGINT AS allocated_bytes,
    NULL::BIGINT AS reserved_bytes,
    NULL::BIGINT AS active_bytes,
    NULL::BIGINT AS requested_bytes
FROM change_of_moment AS moment
LEFT JOIN held_before
    ON held_before.component = moment.component AND held_before.device_id IS NOT DISTINCT FROM moment.device_id
WINDOW of_device AS (
    PARTITION BY moment.component, moment.device_id ORDER BY moment.time_ns ROWS UNBOUNDED PRECEDING
)
