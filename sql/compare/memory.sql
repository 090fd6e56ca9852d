-- One row is an op in a module with the blocks of memory that it allocated in a step, or a part of the peak that no block
-- explains.
--
-- role             VARCHAR  who holds the memory, as in trace.memory_usage
-- part             VARCHAR  as in allocation.peak: blocks, allocated before, whole, released unseen
-- path_id          BIGINT   the path of module.path; NULL outside modules
-- op_name_id       TEXT_ID  the op that allocated the blocks; NULL when not recorded
-- step_id          BIGINT   the step in which they were allocated; NULL outside steps
-- block_count      BIGINT   blocks
-- allocated_bytes  BIGINT   their bytes, whether or not they lived at the same time
-- live_bytes       BIGINT   bytes alive when most was allocated
-- site_id          TEXT_ID  the place in the program, as in allocation.call_site; NULL when not recorded
WITH block AS (
    SELECT every_block.*, live.block_id IS NOT NULL AS is_live
    FROM allocation.every_block
    LEFT JOIN allocation.live_block AS live ON live.block_id = every_block.block_id AND live.measure = 'allocated'
)
SELECT
    role::VARCHAR AS role,
    if(allocated_ns IS NULL, 'allocated before', 'blocks') AS part,
    path_id,
    op_name_id,
    step_id,
    count(*) FILTER (allocated_ns IS NOT NULL) AS block_count,
    coalesce(sum(size_bytes) FILTER (allocated_ns IS NOT NULL), 0)::BIGINT AS allocated_bytes,
    coalesce(sum(size_bytes) FILTER (is_live), 0)::BIGINT AS live_bytes,
    site_id
FROM block
GROUP BY role::VARCHAR, allocated_ns IS NULL, path_id, op_name_id, step_id, site_id
UNION ALL
SELECT role::VARCHAR, part::VARCHAR, NULL, NULL, NULL, 0, 0, sum(live_bytes)::BIGINT, NULL
FROM allocation.peak
WHERE measure = 'allocated' AND block_count IS NULL
GROUP BY role::VARCHAR, part::VARCHAR
