-- Events that change nothing have no size.
WITH rejected_row AS (
    SELECT
        'events of the allocator' AS what,
        NULL::BIGINT AS start_ns,
        NULL::BIGINT AS end_ns,
        NULL::BIGINT AS longest_ns,
        CASE
            WHEN NOT coalesce(is_size(size), false) THEN 'they have no possible size'
            WHEN action <> 'oom' AND address IS NULL THEN 'they have no address'
        END AS reason
    FROM raw.snapshot_event
    WHERE is_on_device(device)
      AND (action IS NULL OR action IN ('oom', 'alloc', 'free', 'free_requested', 'free_completed')
        OR starts_with(action, 'segment_'))
    UNION ALL
    SELECT 'segments', NULL, NULL, NULL, if(coalesce(is_size(total_size), false), NULL, 'they have no possible size')
    FROM raw.snapshot_segment
    WHERE is_on_device(device)
    UNION ALL
    SELECT
        'blocks of segments',
        NULL,
        NULL,
        NULL,
        CASE
            WHEN NOT coalesce(is_size(block.size), false) THEN 'they have no possible size'
            WHEN block.state NOT IN ('active_allocated', 'active_awaiting_free', 'active_pending_free', 'inactive')
                OR block.state IS NULL THEN 'they have no known state'
        END
    FROM raw.snapshot_block AS block
    JOIN raw.snapshot_segment AS segment ON segment.number = block.segment
    WHERE is_on_device(segment.device)
)
FROM set_aside_of(rejected_row, reason)
ORDER BY what, reason
