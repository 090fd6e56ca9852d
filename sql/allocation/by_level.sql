-- One row is an op, a module path, or all together, with the blocks of memory that it allocated from one allocator of a device.
-- Blocks of a step that was not chosen, and those from before the recording, count only where they are alive at the peak.
--
-- level            VARCHAR  op, module or all: scope of the row
-- op_name_id       TEXT_ID  the op that allocated them; NULL when not recorded, and for levels other than op
-- path_id          BIGINT   the path of module.path; NULL outside modules, and for levels other than module
-- @columns component to device_id as in allocation.every_block
-- block_count      BIGINT   blocks allocated
-- allocated_bytes  BIGINT   their bytes, of all blocks together, whether or not they lived at the same time
-- largest_bytes    BIGINT   the largest of them; NULL without any
-- live_bytes       BIGINT   bytes of those that were alive when the allocator had most allocated
-- kept_bytes       BIGINT   bytes of those that were not released during the recording
WITH block AS (
    SELECT
        every_block.* REPLACE (every_block.is_chosen AND every_block.allocated_ns IS NOT NULL AS is_chosen),
        live.block_id IS NOT NULL AS is_live
    FROM allocation.every_block
    LEFT JOIN allocation.live_block AS live ON live.block_id = every_block.block_id AND live.measure = 'allocated'
),
at_level AS (
    SELECT 'op' AS level, * REPLACE (NULL::BIGINT AS path_id)
    FROM block
    UNION ALL
    SELECT 'module', * REPLACE (NULL::BIGINT AS op_name_id)
    FROM block
    UNION ALL
    SELECT 'all', * REPLACE (NULL::BIGINT AS op_name_id, NULL::BIGINT AS path_id)
    FROM block
)
SELECT
    level,
    op_name_id,
    path_id,
    component,
    role,
    device_id,
    count(*) FILTER (is_chosen) AS block_count,
    coalesce(sum(size_bytes) FILTER (is_chosen), 0)::BIGINT AS allocated_bytes,
    max(size_bytes) FILTER (is_chosen) AS largest_bytes,
    coalesce(sum(size_bytes) FILTER (is_live), 0)::BIGINT AS live_bytes,
    coalesce(sum(size_bytes) FILTER (is_chosen AND released_ns IS NULL), 0)::BIGINT AS kept_bytes
FROM at_level
GROUP BY level, op_name_id, path_id, component, role, device_id
HAVING count(*) FILTER (is_chosen OR is_live) > 0
