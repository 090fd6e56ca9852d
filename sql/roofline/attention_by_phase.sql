-- One row is a phase of passes of a server and its kernels of attention: how fast they compute and move data, and whether
-- computing or the memory bounds them, the phase with most time of attention first.
--
-- @guard pass.kernel
--
-- phase        VARCHAR  as in pass.kernel_phase
-- total_ns     BIGINT   time of its kernels of attention, ns
-- share        DOUBLE   part of the time of attention of all phases; NULL when that is 0
-- @columns kernel_count to placed_ns as in kernels.by_category
-- reasons      VARCHAR  why kernels have no efficiency, joined by '; '; NULL when all have one
WITH chip AS (
    SELECT product
    FROM trace.chip
),
known_product AS (
    SELECT product, pattern, memory_gb_s
    FROM roofline.product
),
memory AS (
    SELECT memory_gb_s
    FROM memory_of_device(chip, known_product)
),
kernel AS (
    SELECT
        kernel_phase.phase AS category,
        selected.duration_ns,
        judged.flops,
        judged.known_flops,
        judged.possible_flops,
        judged.reason,
        moved.bytes
    FROM kernels.selected
    JOIN pass.kernel_phase USING (kernel_id)
    JOIN trace.serving_kernel USING (kernel_id)
    LEFT JOIN mfu.judged ON judged.kernel_id = selected.kernel_id
    LEFT JOIN roofline.moved ON moved.kernel_id = selected.kernel_id
    WHERE serving_kernel.part IN ('prefill attention', 'decode attention', 'attention')
),
summed AS (
    FROM sums_of_kernels(kernel, memory)
),
unknown AS (
    SELECT category, string_agg(DISTINCT reason, '; ' ORDER BY reason) AS reasons
    FROM kernel
    GROUP BY category
)
SELECT rated.category AS phase, rated.* EXCLUDE (category), unknown.reasons
FROM rated_categories(summed) AS rated
JOIN unknown USING (category)
ORDER BY rated.total_ns DESC, phase
