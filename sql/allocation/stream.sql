-- One row is a stream of the device, with the blocks of memory of one allocator of a
-- device, the most bytes at the peak first. What was allocated before the recording counts where it is known.
--
-- stream_id        BIGINT   the stream that they were allocated for; NULL when not recorded
-- @columns component to largest_bytes as in allocation.by_place
SELECT
    by_place.stream_id,
    by_place.component,
    by_place.role,
    by_place.device_id,
    by_place.block_count,
    by_place.allocated_bytes,
    by_place.live_bytes,
    by_place.end_bytes,
    by_place.rounding_bytes,
    by_place.largest_bytes
FROM allocation.by_place
WHERE by_place.level = 'stream'
ORDER BY
    by_place.live_bytes DESC,
    by_place.end_bytes DESC,
    by_place.allocated_bytes DESC,
    stream_id,
    by_place.component,
    by_place.device_id
