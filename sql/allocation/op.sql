-- One row is an op with the blocks of memory that it allocated from one allocator of a device, the most bytes at the peak
-- first.
--
-- op_name_id  TEXT_ID  the op that allocated them; NULL when not recorded
-- @columns component to kept_bytes as in allocation.by_level
SELECT
    by_level.op_name_id,
    by_level.component,
    by_level.role,
    by_level.device_id,
    by_level.block_count,
    by_level.allocated_bytes,
    by_level.largest_bytes,
    by_level.live_bytes,
    by_level.kept_bytes
FROM allocation.by_level
LEFT JOIN trace.string AS op_name ON op_name.text_id = by_level.op_name_id
WHERE level = 'op'
ORDER BY live_bytes DESC, allocated_bytes DESC, op_name.text, component, device_id
