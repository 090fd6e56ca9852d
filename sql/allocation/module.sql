-- One row is a module path with the blocks of memory that ops in it allocated from one allocator of a device, the most own
-- bytes at the peak first. Memory that no module allocated is a row too.
--
-- parent_module        VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module; NULL outside modules
-- module               VARCHAR  class name of the module, with [Backward] before it in the backward; NULL outside modules
-- @columns component to device_id as in allocation.every_block
-- block_count          BIGINT   blocks that ops directly in it allocated
-- own_allocated_bytes  BIGINT   their bytes, of all blocks together, whether or not they lived at the same time
-- largest_bytes        BIGINT   the largest of them; NULL without any
-- own_live_bytes       BIGINT   bytes of those that were alive when the allocator had most allocated
-- own_kept_bytes       BIGINT   bytes of those that were not released during the recording
-- allocated_bytes      BIGINT   own_allocated_bytes with those of all modules inside it
-- live_bytes           BIGINT   own_live_bytes with those of all modules inside it
WITH own AS (
    FROM allocation.by_level
    WHERE level = 'module'
),
inclusive AS (
    SELECT
        enclosing_path.enclosing_id AS path_id,
        own.component,
        own.role,
        own.device_id,
        sum(own.allocated_bytes)::BIGINT AS allocated_bytes,
        sum(own.live_bytes)::BIGINT AS live_bytes
    FROM own
    JOIN module.enclosing_path USING (path_id)
    GROUP BY ALL
    UNION ALL
    SELECT path_id, component, role, device_id, allocated_bytes, live_bytes
    FROM own
    WHERE path_id IS NULL
)
SELECT
    path.parent_module,
    path.module,
    inclusive.component,
    inclusive.role,
    inclusive.device_id,
    coalesce(own.block_count, 0) AS block_count,
    coalesce(own.allocated_bytes, 0) AS own_allocated_bytes,
    own.largest_bytes,
    coalesce(own.live_bytes, 0) AS own_live_bytes,
    coalesce(own.kept_bytes, 0) AS own_kept_bytes,
    inclusive.allocated_bytes,
    inclusive.live_bytes
FROM inclusive
LEFT JOIN module.path USING (path_id)
LEFT JOIN own
    ON own.path_id IS NOT DISTINCT FROM inclusive.path_id
    AND own.component = inclusive.component
    AND own.role::VARCHAR = inclusive.role::VARCHAR
    AND own.device_id IS NOT DISTINCT FROM inclusive.device_id
ORDER BY own_live_bytes DESC, own_allocated_bytes DESC, path.path_id, inclusive.component, inclusive.device_id
