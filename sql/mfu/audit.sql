-- One row is a finding about the figures of mfu.kernel_efficiency that somebody should look at.
--
-- finding      VARCHAR  'above the peak' (too many FLOPs, too low a peak, or a kernel that does less than its shapes say; it is
--                       in no sum), 'recorded otherwise than the shapes', 'recorded, but no kernel to take it', or 'not a
--                       recording' (a message of the domain mfu_flops that is not "{flops}-{name}")
-- name_id      TEXT_ID  name of the kernel, or of the range that recorded
-- kernel_id    BIGINT   a kernel of mfu.kernel_efficiency; NULL for a range
-- range_id     BIGINT   a range of trace.range; NULL for a kernel
-- start_ns     BIGINT   start of the kernel or of the range, Unix ns
-- efficiency   DOUBLE   efficiency that the kernel would have; NULL for a range
-- flops        BIGINT   FLOPs that the kernel would have, or those recorded; NULL where the message holds none
-- other_flops  BIGINT   FLOPs of the range's kernels by their shapes; NULL when not known, and for a kernel
WITH taken AS (
    SELECT recorded.range_id, sum(shape_flops.flops) AS flops, count(*) = count(shape_flops.flops) AS is_known
    FROM mfu.recorded
    JOIN mfu.cube_kernel USING (kernel_id)
    JOIN mfu.shape_flops USING (shape_id)
    GROUP BY recorded.range_id
)
SELECT
    'above the peak' AS finding,
    kernel.name_id,
    kernel.kernel_id,
    NULL::BIGINT AS range_id,
    kernel.start_ns,
    judged.too_much AS efficiency,
    judged.flops_upper_bound AS flops,
    NULL::BIGINT AS other_flops
FROM mfu.judged
JOIN module.kernel USING (kernel_id)
WHERE judged.too_much IS NOT NULL
UNION ALL
SELECT
    CASE
        WHEN recorded_range.flops IS NULL THEN 'not a recording'
        WHEN taken.range_id IS NULL THEN 'recorded, but no kernel to take it'
        ELSE 'recorded otherwise than the shapes'
    END,
    range.name_id,
    NULL,
    recorded_range.range_id,
    recorded_range.start_ns,
    NULL,
    recorded_range.flops,
    TRY_CAST(taken.flops AS BIGINT)
FROM mfu.recorded_range
JOIN trace.range USING (range_id)
LEFT JOIN taken USING (range_id)
WHERE recorded_range.flops IS NULL OR taken.range_id IS NULL OR (taken.is_known AND taken.flops <> recorded_range.flops)
ORDER BY finding, start_ns, kernel_id, range_id
