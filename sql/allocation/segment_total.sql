-- One row is a device with all segments that the allocator of the framework holds when the recording ends: what is in use, and
-- why the rest is not.
--
-- device_id           BIGINT  device; NULL when not recorded
-- segment_count       BIGINT  segments
-- size_bytes          BIGINT  their size: what is reserved
-- block_count         BIGINT  blocks that are handed out
-- allocated_bytes     BIGINT  their bytes
-- awaiting_bytes      BIGINT  bytes that were released and are still used by a stream
-- rounding_bytes      BIGINT  part of the two that the program did not ask for; NULL when not recorded
-- free_bytes          BIGINT  bytes that are not used: size_bytes - allocated_bytes - awaiting_bytes
-- whole_count         BIGINT  segments of which nothing is used: empty_cache() gives them back
-- whole_bytes         BIGINT  their bytes
-- split_count         BIGINT  free parts beside blocks (inactive split blocks)
-- split_bytes         BIGINT  their bytes
-- largest_free_bytes  BIGINT  the largest free part; 0 without any
SELECT
    device_id,
    count(*) AS segment_count,
    sum(size_bytes)::BIGINT AS size_bytes,
    sum(block_count)::BIGINT AS block_count,
    sum(allocated_bytes)::BIGINT AS allocated_bytes,
    sum(awaiting_bytes)::BIGINT AS awaiting_bytes,
    sum(rounding_bytes)::BIGINT AS rounding_bytes,
    sum(free_bytes)::BIGINT AS free_bytes,
    count(*) FILTER (free_bytes > 0 AND split_bytes = 0) AS whole_count,
    coalesce(sum(free_bytes) FILTER (split_bytes = 0), 0)::BIGINT AS whole_bytes,
    coalesce(sum(free_count) FILTER (split_bytes > 0), 0)::BIGINT AS split_count,
    sum(split_bytes)::BIGINT AS split_bytes,
    max(largest_free_bytes) AS largest_free_bytes
FROM allocation.segment
GROUP BY device_id
ORDER BY device_id
