-- One row is a part of the memory that a component held when it held most, by one of three measures: the live blocks of an op
-- in a module, or what no block explains. The rows of a component, device and measure add up to the peak; the largest come
-- first.
--
-- @guard trace.memory_usage
--
-- role           ENUM('framework', 'operators', 'workspace', 'process', 'device', 'program', 'part')  who holds it, as in
--                         trace.memory_usage
-- component      VARCHAR  the same as the profile calls it
-- device_id      BIGINT   device; NULL when not recorded
-- measure        ENUM('allocated', 'active', 'reserved')  the measure that was highest
-- peak_bytes     BIGINT   how much it was
-- peak_ns        BIGINT   when, Unix ns
-- step_id        BIGINT   profiler step of that moment; NULL outside steps
-- part           ENUM('blocks', 'allocated before', 'cached', 'whole', 'released unseen')  blocks allocated during the
--                         recording; what was allocated before it; reserved but not handed out; all of a component whose blocks
--                         are not recorded; less than 0, blocks whose release the profile does not record
-- parent_module  VARCHAR  of blocks, names of the modules around that of the op, joined by '/'; '' for an outermost module;
--                         NULL outside modules
-- module         VARCHAR  of blocks, class name of the module, with [Backward] before it in the backward; NULL outside modules
-- op_name_id     TEXT_ID  of blocks, the op that allocated them; NULL when not recorded
-- live_bytes     BIGINT   its bytes at the peak
-- share          DOUBLE   live_bytes / peak_bytes; NULL when that is 0
-- block_count    BIGINT   its blocks; NULL where it has none
-- largest_bytes  BIGINT   the largest of them; NULL where it has none
-- site_id        TEXT_ID  the place in the program that called the op, as in allocation.call_site; NULL when not recorded
WITH of_blocks AS (
    SELECT
        block.component,
        block.role::VARCHAR AS role,
        block.device_id,
        live.measure,
        if(block.allocated_ns IS NULL, 'allocated before', 'blocks') AS part,
        path.parent_module,
        path.module,
        block.op_name_id,
        block.site_id,
        sum(block.size_bytes)::BIGINT AS live_bytes,
        count(*) AS block_count,
        max(block.size_bytes) AS largest_bytes
    FROM allocation.live_block AS live
    JOIN allocation.every_block AS block USING (block_id)
    LEFT JOIN module.path USING (path_id)
    GROUP BY ALL
),
explained_memory AS (
    SELECT component, role, device_id, measure, sum(live_bytes)::BIGINT AS live_bytes
    FROM of_blocks
    GROUP BY ALL
),
has_blocks AS (SELECT DISTINCT component, role::VARCHAR AS role FROM allocation.every_block),
rest AS (
    SELECT
        peak.*,
        has_blocks.component IS NOT NULL AS has_blocks,
        if(peak.measure = 'reserved', coalesce(peak.allocated_bytes, peak.peak_bytes), peak.peak_bytes)
            - coalesce(explained_memory.live_bytes, 0) AS not_explained_bytes,
        if(peak.measure = 'reserved', peak.peak_bytes - peak.allocated_bytes, 0) AS cached_bytes
    FROM allocation.peak_moment AS peak
    LEFT JOIN has_blocks ON has_blocks.component = peak.component AND has_blocks.role = peak.role::VARCHAR
    LEFT JOIN explained_memory
        ON explained_memory.component = peak.component
        AND explained_memory.role = peak.role::VARCHAR
        AND explained_memory.device_id IS NOT DISTINCT FROM peak.device_id
        AND explained_memory.measure = peak.measure
),
part AS (
    FROM of_blocks
    UNION ALL BY NAME
    SELECT
        component,
        role::VARCHAR AS role,
        device_id,
        measure,
        CASE
            WHEN not_explained_bytes < 0 THEN 'released unseen'
            WHEN has_blocks THEN 'allocated before'
            ELSE 'whole'
        END AS part,
        not_explained_bytes AS live_bytes
    FROM rest
    WHERE not_explained_bytes <> 0
    UNION ALL BY NAME
    SELECT component, role::VARCHAR AS role, device_id, measure, 'cached' AS part, cached_bytes AS live_bytes
    FROM rest
    WHERE cached_bytes <> 0
)
SELECT
    peak.role,
    part.component,
    part.device_id,
    part.measure,
    peak.peak_bytes,
    peak.peak_ns,
    peak.step_id,
    part.part::ENUM('blocks', 'allocated before', 'cached', 'whole', 'released unseen') AS part,
    part.parent_module,
    part.module,
    part.op_name_id,
    part.live_bytes,
    part.live_bytes / nullif(peak.peak_bytes, 0) AS share,
    part.block_count,
    part.largest_bytes,
    part.site_id
FROM part
JOIN allocation.peak_moment AS peak
    ON peak.component = part.component
    AND peak.role::VARCHAR = part.role
    AND peak.device_id IS NOT DISTINCT FROM part.device_id
    AND peak.measure = part.measure
LEFT JOIN trace.string AS op_name ON op_name.text_id = part.op_name_id
LEFT JOIN trace.string AS site ON site.text_id = part.site_id
ORDER BY
    peak.role,
    part.component,
    part.device_id,
    part.measure,
    part.live_bytes DESC,
    part.part,
    part.parent_module,
    part.module,
    op_name.text,
    site.text
