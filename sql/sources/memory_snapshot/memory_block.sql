-- The segments say what is held at the end; the history says when it was allocated, and what was released before. The history
-- may begin late or lack events: a block that is held at the end without an allocation, or is released without one, was
-- allocated before. One whose release is not recorded was released when its address was allocated again, else by the end where
-- no segment holds it. Of a block that is not held at the end, the request alone is recorded: its size is the next multiple of
-- 512 bytes. What waits for a stream, and was not released in the history, was released before it.
WITH event_of_block AS (
    SELECT *, count(*) FILTER (kind = 'allocation') OVER (PARTITION BY device_id, address ORDER BY event_id) AS generation
    FROM trace.memory_event
    WHERE kind IN ('allocation', 'release', 'reuse') AND address IS NOT NULL AND size_bytes IS NOT NULL
),
life AS (
    SELECT
        device_id,
        address,
        generation,
        min(event_id) AS event_id,
        arg_min(size_bytes, event_id) AS requested_bytes,
        arg_min(stream_id, event_id) AS stream_id,
        min(stack_id) FILTER (kind = 'allocation') AS stack_id,
        min(time_ns) FILTER (kind = 'allocation') AS allocated_ns,
        min(time_ns) FILTER (kind = 'release') AS released_ns,
        min(time_ns) FILTER (kind = 'reuse') AS reusable_ns
    FROM event_of_block
    GROUP BY device_id, address, generation
),
followed_life AS (
    SELECT *, lead(allocated_ns) OVER (PARTITION BY device_id, address ORDER BY generation) AS next_ns
    FROM life
),
end_of_device AS (
    SELECT device_id, min(time_ns) - 1 AS begin_ns, max(time_ns) + 1 AS end_ns
    FROM trace.memory_event
    GROUP BY device_id
),
segmented_device AS (SELECT DISTINCT device_id FROM trace.memory_segment),
held AS (
    SELECT
        part.part_id,
        part.address,
        part.size_bytes,
        part.requested_bytes,
        part.state,
        part.stack_id,
        segment.device_id,
        segment.stream_id,
        coalesce(end_of_device.begin_ns, 0) AS begin_ns,
        end_of_device.end_ns
    FROM trace.segment_part AS part
    JOIN trace.memory_segment AS segment USING (segment_id)
    LEFT JOIN end_of_device ON end_of_device.device_id = segment.device_id
    WHERE part.state <> 'free'
),
held_life AS (
    SELECT
        held.*,
        life.event_id,
        life.allocated_ns,
        if(held.state = 'allocated', NULL, coalesce(life.released_ns, held.begin_ns)) AS released_ns,
        if(held.state = 'allocated', NULL, held.end_ns) AS reusable_ns,
        coalesce(held.stack_id, life.stack_id) AS known_stack_id
    FROM held
    LEFT JOIN followed_life AS life
        ON life.device_id = held.device_id
        AND life.address = held.address
        AND life.next_ns IS NULL
        AND life.reusable_ns IS NULL
),
ended_life AS (
    SELECT
        life.*,
        coalesce(
            life.released_ns,
            life.reusable_ns,
            life.next_ns,
            -- Without segments, what is held at the end is not known.
            if(segmented_device.device_id IS NULL, NULL, end_of_device.end_ns)
        ) AS gone_ns
    FROM followed_life AS life
    JOIN end_of_device USING (device_id)
    LEFT JOIN segmented_device USING (device_id)
    ANTI JOIN held_life USING (event_id)
),
block AS (
    SELECT
        coalesce(event_id, -1 - part_id) AS block_id,
        device_id,
        stream_id,
        size_bytes,
        requested_bytes,
        known_stack_id AS stack_id,
        allocated_ns,
        released_ns,
        reusable_ns
    FROM held_life
    UNION ALL
    SELECT
        event_id,
        device_id,
        stream_id,
        rounded_size(requested_bytes),
        requested_bytes,
        stack_id,
        allocated_ns,
        gone_ns,
        coalesce(reusable_ns, gone_ns)
    FROM ended_life
)
SELECT
    block.block_id,
    'PyTorch' AS component,
    'framework'::ENUM('framework', 'operators', 'process') AS role,
    block.device_id,
    block.stream_id,
    NULL::BIGINT AS tid,
    stack.op_id AS name_id,
    block.size_bytes,
    block.allocated_ns,
    block.released_ns,
    block.reusable_ns,
    block.requested_bytes,
    block.stack_id
FROM block
LEFT JOIN trace.memory_stack AS stack USING (stack_id)
