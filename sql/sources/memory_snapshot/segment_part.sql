-- What was released and is still used by a stream has had two names.
WITH part AS (
    SELECT
        *,
        CASE
            WHEN state = 'active_allocated' THEN 'allocated'
            WHEN state IN ('active_awaiting_free', 'active_pending_free') THEN 'awaiting free'
            ELSE 'free'
        END AS use
    FROM raw.snapshot_block
    WHERE is_size(size)
)
SELECT
    part.number AS part_id,
    part.segment AS segment_id,
    part.address,
    part.size AS size_bytes,
    if(part.use <> 'free' AND part.requested_size >= 0, part.requested_size, NULL) AS requested_bytes,
    part.use::ENUM('allocated', 'awaiting free', 'free') AS state,
    if(part.use <> 'free', part.stack, NULL) AS stack_id
FROM part
JOIN trace.memory_segment AS segment ON segment.segment_id = part.segment
