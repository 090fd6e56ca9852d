-- One row is a segment: memory that the allocator of the framework holds from the device when the recording ends, the most free
-- memory first.
--
-- @guard trace.memory_segment
--
-- @columns device_id to pool as in trace.memory_segment
-- @columns is_expandable to size_bytes as in trace.memory_segment
-- block_count         BIGINT  blocks in it that are handed out
-- allocated_bytes     BIGINT  their bytes
-- awaiting_bytes      BIGINT  bytes that were released and are still used by a stream
-- rounding_bytes      BIGINT  part of the two that the program did not ask for; NULL when not recorded
-- free_bytes          BIGINT  bytes that are not used
-- split_bytes         BIGINT  part of free_bytes that lies beside blocks, so that it cannot be given back (inactive split
--                             blocks)
-- free_count          BIGINT  free parts
-- largest_free_bytes  BIGINT  the largest of them; 0 without any
-- site_id             TEXT_ID  the place in the program for which it was taken from the device; NULL when not recorded
WITH summed AS (
    SELECT
        segment_id,
        count(*) FILTER (state = 'allocated') AS block_count,
        coalesce(sum(size_bytes) FILTER (state = 'allocated'), 0)::BIGINT AS allocated_bytes,
        coalesce(sum(size_bytes) FILTER (state = 'awaiting free'), 0)::BIGINT AS awaiting_bytes,
        (sum(size_bytes - requested_bytes) FILTER (state <> 'free'))::BIGINT AS rounding_bytes,
        coalesce(sum(size_bytes) FILTER (state = 'free'), 0)::BIGINT AS free_bytes,
        count(*) FILTER (state = 'free') AS free_count,
        coalesce(max(size_bytes) FILTER (state = 'free'), 0) AS largest_free_bytes
    FROM trace.segment_part
    GROUP BY segment_id
)
SELECT
    segment.device_id,
    segment.address,
    segment.stream_id,
    segment.pool,
    segment.is_expandable,
    segment.size_bytes,
    coalesce(summed.block_count, 0) AS block_count,
    coalesce(summed.allocated_bytes, 0) AS allocated_bytes,
    coalesce(summed.awaiting_bytes, 0) AS awaiting_bytes,
    summed.rounding_bytes,
    coalesce(summed.free_bytes, 0) AS free_bytes,
    if(summed.allocated_bytes + summed.awaiting_bytes > 0, summed.free_bytes, 0) AS split_bytes,
    coalesce(summed.free_count, 0) AS free_count,
    coalesce(summed.largest_free_bytes, 0) AS largest_free_bytes,
    call_site.site_id
FROM trace.memory_segment AS segment
LEFT JOIN summed USING (segment_id)
LEFT JOIN allocation.call_site USING (stack_id)
ORDER BY free_bytes DESC, segment.size_bytes DESC, segment.device_id, segment.address, segment.segment_id
