-- One row is the memory that was alive at the peak and allocated from one stack, as a line of a flame graph. The bytes of all
-- rows add up to the peaks of the allocators of the framework.
--
-- frames       VARCHAR[]  names from the outermost on: the frames of Python, or without a stack the modules; then the op. What
--                         no block explains has its part in parentheses, as in allocation.peak
-- block_count  BIGINT     blocks; NULL for what no block explains
-- live_bytes   BIGINT     their bytes
WITH line AS (
    SELECT
        list_concat(
            coalesce(
                nullif(call_site.frames, []),
                string_split(path_of_module(path.parent_module, path.module), '/'),
                [if(block.allocated_ns IS NULL, '(allocated before)', '(no frames)')]
            ),
            if(op_name.text IS NULL OR list_contains(call_site.frames, op_name.text), [], [op_name.text])
        ) AS frames,
        1 AS block_count,
        block.size_bytes
    FROM allocation.live_block AS live
    JOIN allocation.every_block AS block USING (block_id)
    LEFT JOIN allocation.call_site USING (stack_id)
    LEFT JOIN module.path USING (path_id)
    LEFT JOIN trace.string AS op_name ON op_name.text_id = block.op_name_id
    WHERE live.measure = 'allocated' AND block.role = 'framework'
    UNION ALL
    SELECT ['(' || part || ')'], NULL, live_bytes
    FROM allocation.peak
    WHERE measure = 'allocated' AND role = 'framework' AND block_count IS NULL
)
SELECT frames, sum(block_count)::BIGINT AS block_count, sum(size_bytes)::BIGINT AS live_bytes
FROM line
GROUP BY frames
ORDER BY frames
