-- One row is the memory that was alive at the peak and allocated in one module by one op, as a line of a flame graph, where
-- flame.memory has stacks in place of modules; else there are no rows. The bytes of all rows add up to the peaks of the
-- allocators of the framework.
--
-- frames       VARCHAR[]  names of modules from the outermost on, then the op. What lies outside modules, and what no block
--                         explains, has that in parentheses
-- block_count  BIGINT     blocks; NULL for what no block explains
-- live_bytes   BIGINT     their bytes
WITH line AS (
    SELECT
        list_concat(
            CASE
                WHEN peak.block_count IS NULL OR peak.part <> 'blocks' THEN ['(' || peak.part || ')']
                ELSE coalesce(string_split(path_of_module(peak.parent_module, peak.module), '/'), ['(outside modules)'])
            END,
            if(op_name.text IS NULL, [], [op_name.text])
        ) AS frames,
        peak.block_count,
        peak.live_bytes
    FROM allocation.peak
    LEFT JOIN trace.string AS op_name ON op_name.text_id = peak.op_name_id
    WHERE peak.measure = 'allocated' AND peak.role = 'framework'
)
SELECT frames, sum(block_count)::BIGINT AS block_count, sum(live_bytes)::BIGINT AS live_bytes
FROM line
WHERE EXISTS (FROM allocation.peak WHERE module IS NOT NULL) AND EXISTS (FROM allocation.peak WHERE site_id IS NOT NULL)
GROUP BY frames
ORDER BY frames
