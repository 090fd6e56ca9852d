-- One row is a place with the blocks of memory that were allocated for it from one allocator of a device.
--
-- level            ENUM('site', 'stack', 'native', 'size', 'stream')  scope of the row: a call site, the Python frames of a
--                                stack, all frames, a class of sizes, a stream
-- site_id          TEXT_ID    of a site, as in allocation.call_site; NULL when not recorded, and for other levels
-- frames           VARCHAR[]  of a stack, the outermost frame first; NULL when not recorded, and for other levels
-- size_class       BIGINT     of sizes, the largest power of 2 that they reach; NULL for other levels
-- stream_id        BIGINT     of a stream; NULL when not recorded, and for other levels
-- @columns component to device_id as in allocation.every_block
-- block_count      BIGINT     blocks
-- allocated_bytes  BIGINT     bytes of those that were allocated during the recording, whether or not they lived together; of
--                             those that a snapshot does not hold at its end, what was asked for, rounded up to 512 bytes
-- live_bytes       BIGINT     bytes of those that were alive when the allocator had most allocated
-- end_bytes        BIGINT     bytes of those that were not released during the recording
-- rounding_bytes   BIGINT     part of end_bytes that the program did not ask for; NULL when not recorded
-- largest_bytes    BIGINT     the largest of them
WITH block AS (
    SELECT
        every_block.component,
        every_block.role,
        every_block.device_id,
        every_block.stream_id,
        every_block.size_bytes,
        every_block.requested_bytes,
        every_block.site_id,
        call_site.frames,
        call_site.all_frames,
        every_block.allocated_ns IS NOT NULL AS is_new,
        every_block.released_ns IS NULL AS is_held,
        live.block_id IS NOT NULL AS is_live
    FROM allocation.every_block
    LEFT JOIN allocation.call_site USING (stack_id)
    LEFT JOIN allocation.live_block AS live ON live.block_id = every_block.block_id AND live.measure = 'allocated'
    WHERE every_block.is_chosen OR every_block.allocated_ns IS NULL
),
at_level AS (
    SELECT 'site' AS level, site_id, NULL::VARCHAR[] AS frames, NULL::BIGINT AS size_class, NULL::BIGINT AS of_stream_id, *
        EXCLUDE (site_id, frames)
    FROM block
    UNION ALL BY NAME
    SELECT 'stack' AS level, * EXCLUDE (site_id)
    FROM block
    UNION ALL BY NAME
    SELECT 'native' AS level, * EXCLUDE (site_id) REPLACE (all_frames AS frames)
    FROM block
    UNION ALL BY NAME
    SELECT 'size' AS level, (2 ** floor(log2(size_bytes)))::BIGINT AS size_class, * EXCLUDE (site_id, frames)
    FROM block
    UNION ALL BY NAME
    SELECT 'stream' AS level, stream_id AS of_stream_id, * EXCLUDE (site_id, frames)
    FROM block
)
SELECT
    level::ENUM('site', 'stack', 'native', 'size', 'stream') AS level,
    site_id,
    frames,
    size_class,
    of_stream_id AS stream_id,
    component,
    role,
    device_id,
    count(*) AS block_count,
    coalesce(sum(size_bytes) FILTER (is_new), 0)::BIGINT AS allocated_bytes,
    coalesce(sum(size_bytes) FILTER (is_live), 0)::BIGINT AS live_bytes,
    coalesce(sum(size_bytes) FILTER (is_held), 0)::BIGINT AS end_bytes,
    (sum(size_bytes - requested_bytes) FILTER (is_held))::BIGINT AS rounding_bytes,
    max(size_bytes) AS largest_bytes
FROM at_level
GROUP BY ALL
