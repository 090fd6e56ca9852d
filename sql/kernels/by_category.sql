-- One row is a category of kernels with their number and time, how fast they compute and move data, and whether computing or
-- the memory bounds them, the heaviest first. The times add up to that of all kernels.
--
-- category              VARCHAR  as in kernels.category; optimizer also for what an optimizer computes by other kernels, matrix
--                                products apart; other where nothing says it
-- total_ns              BIGINT   time of the kernels, ns; overlapping kernels count fully
-- share                 DOUBLE   part of the time of all kernels; NULL when that is 0
-- kernel_count          BIGINT   kernels
-- achieved_tflops       DOUBLE   flops / flops_ns, 10^12 per second; NULL without
-- efficiency            DOUBLE   known_flops / possible_flops: part of the peak for their data types; NULL when not known
-- bandwidth_gb_s        DOUBLE   bytes / bytes_ns, 10^9 bytes per second; NULL without. What lies in a cache counts as well
-- memory_share          DOUBLE   part of memory_gb_s; NULL when that is not known
-- bound                 VARCHAR  what bounds kernels of so many FLOPs for each byte: computing, where flops_per_byte is above
--                                ridge_flops_per_byte, else memory; NULL when one of the two is not known, and where placed_ns
--                                is less than half of total_ns
-- flops_time_share      DOUBLE   flops_ns / total_ns; NULL when that is 0
-- bytes_time_share      DOUBLE   bytes_ns / total_ns; NULL when that is 0
-- flops_per_byte        DOUBLE   placed_flops / placed_bytes; NULL without
-- ridge_flops_per_byte  DOUBLE   at so many FLOPs for each byte, the peak of the device takes as long as its memory; NULL when
--                                the peak or the bandwidth is not known
-- memory_gb_s           DOUBLE   bandwidth of the memory by the data sheet of the device, 10^9 bytes per second; NULL when not
--                                known
-- flops                 BIGINT   FLOPs of the matrix products, where they are known; NULL without any
-- flops_ns              BIGINT   time of the kernels whose FLOPs are known, ns
-- known_flops           BIGINT   FLOPs of those whose peak is known, too; NULL without any
-- possible_flops        BIGINT   FLOPs that the device can do in the time of these; NULL without any
-- bytes                 BIGINT   bytes read and written, as in roofline.moved; NULL when not known
-- bytes_ns              BIGINT   time of the kernels whose bytes are known, ns
-- placed_flops          BIGINT   FLOPs of the kernels whose FLOPs, peak and bytes are all known; NULL without any
-- possible_placed_flops BIGINT   FLOPs that the device can do in the time of these; NULL without any
-- placed_bytes          BIGINT   bytes of these; NULL without any
-- placed_ns             BIGINT   time of these, ns
WITH asked AS (
    SELECT kernel_id, tid, asked_ns
    FROM kernels.asked
),
recorded_op AS (
    SELECT tid, name_id, start_ns, end_ns
    FROM trace.op
),
op_name AS (
    SELECT text_id, text
    FROM trace.string
),
of_optimizer AS (
    FROM kernels_of_optimizers(asked, recorded_op, op_name)
),
chip AS (
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
        CASE
            WHEN of_optimizer.kernel_id IS NOT NULL AND category.category NOT IN ('matrix product', 'communication')
                THEN 'optimizer'
            ELSE coalesce(category.category, 'other')
        END AS category,
        selected.duration_ns,
        judged.flops,
        judged.known_flops,
        judged.possible_flops,
        moved.bytes
    FROM kernels.selected
    LEFT JOIN module.kernel USING (kernel_id)
    LEFT JOIN kernels.category
        ON category.kind = selected.kind
        AND category.name_id IS NOT DISTINCT FROM selected.name_id
        AND category.type_id IS NOT DISTINCT FROM selected.type_id
        AND category.op_name_id IS NOT DISTINCT FROM kernel.op_name_id
    LEFT JOIN of_optimizer ON of_optimizer.kernel_id = selected.kernel_id
    LEFT JOIN mfu.judged ON judged.kernel_id = selected.kernel_id
    LEFT JOIN roofline.moved ON moved.kernel_id = selected.kernel_id
),
summed AS (
    FROM sums_of_kernels(kernel, memory)
)
FROM rated_categories(summed)
ORDER BY total_ns DESC, category
