-- One row is a place in the program that allocated or released memory between two marks in the history of the allocator: how
-- much what it holds has grown. The largest growth comes first; the rows of all spans add up to that of the whole history.
--
-- @guard trace.memory_event
--
-- device_id        BIGINT   device
-- @columns start_ns to to_name_id as in allocation.span
-- site_id          TEXT_ID  the place, as in allocation.call_site; NULL when not recorded
-- growth_bytes     BIGINT   allocated_bytes - released_bytes
-- allocated_bytes  BIGINT   bytes of the blocks that were allocated between the marks
-- released_bytes   BIGINT   bytes of the blocks that were released between the marks
-- block_count      BIGINT   blocks allocated between the marks
WITH change AS (
    SELECT device_id, site_id, allocated_ns AS time_ns, size_bytes AS allocated_bytes, 0 AS released_bytes
    FROM allocation.every_block
    WHERE allocated_ns IS NOT NULL
    UNION ALL
    SELECT device_id, site_id, released_ns, 0, size_bytes
    FROM allocation.every_block
    WHERE released_ns IS NOT NULL
),
placed_change AS (
    SELECT span.*, change.site_id, change.allocated_bytes, change.released_bytes
    FROM change
    ASOF JOIN allocation.span ON span.device_id = change.device_id AND span.start_ns <= change.time_ns
)
SELECT
    placed_change.device_id,
    placed_change.start_ns,
    placed_change.end_ns,
    placed_change.from_mark,
    placed_change.from_name_id,
    placed_change.to_mark,
    placed_change.to_name_id,
    placed_change.site_id,
    (sum(placed_change.allocated_bytes) - sum(placed_change.released_bytes))::BIGINT AS growth_bytes,
    sum(placed_change.allocated_bytes)::BIGINT AS allocated_bytes,
    sum(placed_change.released_bytes)::BIGINT AS released_bytes,
    count(*) FILTER (placed_change.allocated_bytes > 0) AS block_count
FROM placed_change
LEFT JOIN trace.string AS site ON site.text_id = placed_change.site_id
GROUP BY
    placed_change.device_id,
    placed_change.start_ns,
    placed_change.end_ns,
    placed_change.from_mark,
    placed_change.from_name_id,
    placed_change.to_mark,
    placed_change.to_name_id,
    placed_change.site_id,
    site.text
ORDER BY growth_bytes DESC, placed_change.device_id, placed_change.start_ns, site.text
