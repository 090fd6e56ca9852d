-- One row is a block that was alive when the memory of its allocator was highest, by one of three measures. Active blocks may
-- be released already; reserved memory is alive if it is allocated.
--
-- @guard trace.memory_block
--
-- block_id  BIGINT  a block of trace.memory_block
-- measure   ENUM('allocated', 'active', 'reserved')  the measure that was highest
SELECT block.block_id, peak.measure
FROM allocation.every_block AS block
JOIN allocation.peak_moment AS peak
    ON peak.component = block.component
    AND peak.role::VARCHAR = block.role::VARCHAR
    AND peak.device_id IS NOT DISTINCT FROM block.device_id
WHERE coalesce(block.allocated_ns <= peak.peak_ns, true)
  AND coalesce(
      if(peak.measure = 'active', block.used_until_ns, block.released_ns) > peak.peak_ns,
      -- Without a moment of the peak, there is the end alone.
      block.released_ns IS NULL
  )
