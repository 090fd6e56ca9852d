-- One row is a place in the program with the blocks of memory that were alive when an attempt to allocate failed for the last
-- time on a device: what filled it. The rows of a device add up to what was allocated at that moment; the largest come first.
--
-- @guard trace.out_of_memory
--
-- @columns device_id to size_bytes as in trace.out_of_memory
-- site_id        TEXT_ID  the place that allocated the blocks, as in allocation.call_site; NULL when not recorded
-- op_name_id     TEXT_ID  the op that allocated them; NULL when not recorded
-- live_bytes     BIGINT   their bytes
-- share          DOUBLE   live_bytes / all that was allocated
-- block_count    BIGINT   blocks
-- largest_bytes  BIGINT   the largest of them
WITH last_failure AS (
    FROM trace.out_of_memory
    QUALIFY row_number() OVER (PARTITION BY device_id ORDER BY time_ns DESC, event_id DESC) = 1
)
SELECT
    failure.device_id,
    failure.time_ns,
    failure.size_bytes,
    block.site_id,
    block.op_name_id,
    sum(block.size_bytes)::BIGINT AS live_bytes,
    sum(block.size_bytes) / sum(sum(block.size_bytes)) OVER (PARTITION BY failure.device_id) AS share,
    count(*) AS block_count,
    max(block.size_bytes) AS largest_bytes
FROM last_failure AS failure
-- One failure a device.
JOIN allocation.every_block AS block ON block.device_id IS NOT DISTINCT FROM failure.device_id
LEFT JOIN trace.string AS site ON site.text_id = block.site_id
LEFT JOIN trace.string AS op_name ON op_name.text_id = block.op_name_id
WHERE block.role = 'framework'
  AND coalesce(block.allocated_ns <= failure.time_ns, true)
  AND coalesce(block.released_ns > failure.time_ns, true)
GROUP BY failure.device_id, failure.time_ns, failure.size_bytes, block.site_id, block.op_name_id, site.text, op_name.text
ORDER BY live_bytes DESC, failure.device_id, site.text, op_name.text
