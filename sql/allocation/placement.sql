-- One row is a device whose allocator has a history, and how many of the blocks in it a profile of the same process explains.
--
-- @guard trace.memory_event
--
-- device_id     BIGINT   device
-- has_ops       BOOLEAN  whether ops of the process are known, from a profile beside the snapshot
-- block_count   BIGINT   blocks that were allocated in the history
-- module_count  BIGINT   those that were allocated in a module
-- step_count    BIGINT   those that were allocated in a step
SELECT
    device_id,
    EXISTS (FROM trace.op) AS has_ops,
    count(*) AS block_count,
    count(path_id) AS module_count,
    count(step_id) AS step_count
FROM allocation.every_block
WHERE allocated_ns IS NOT NULL
GROUP BY device_id
ORDER BY device_id
