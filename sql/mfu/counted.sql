-- One row is a grouped matmul, and its FLOPs as hardware counters bound them: the cycles in which the matrix units of all cores
-- worked, times the operations of a cycle.
--
-- @guard mfu.grouped_matmul
--
-- kernel_id          BIGINT  a kernel of mfu.cube_kernel
-- flops              BIGINT  FLOPs; NULL where the groups are too short to say
-- flops_upper_bound  BIGINT  what they are at most
--
-- Cycles exceed the work: 4,000 rows take 1 to 15 % more, and a few rows take as many as
-- 30 to 50 rows would. So flops is known only where the cycles are enough for 256 rows per group. Where input and weight have
-- different types, it is not recorded in which one the matrix unit multiplied.
WITH counter AS (
    SELECT text_id AS metric_id, ends_with(lower(text), 'cycles') AS is_cycles
    FROM trace.string
    -- Knows aic_, mac: counters are of one kind of hardware, and have names.
    WHERE regexp_matches(lower(text), '^(aic_)?(total_cycles|mac(_fp16|_int8)?_ratio)$')
),
busy AS (
    SELECT
        metric.kernel_id,
        max(metric.value) FILTER (counter.is_cycles) AS cycles,
        max(metric.value) FILTER (NOT counter.is_cycles) AS ratio
    FROM trace.kernel_metric AS metric
    JOIN counter USING (metric_id)
    JOIN mfu.cube_kernel USING (kernel_id)
    SEMI JOIN mfu.grouped_matmul USING (shape_id)
    WHERE isfinite(metric.value)
    GROUP BY metric.kernel_id
),
worked AS (
    SELECT
        busy.kernel_id,
        grouped_matmul.*,
        TRY_CAST(busy.cycles * busy.ratio * rate.operations_per_cycle AS HUGEINT) AS cube_flops
    FROM busy
    JOIN mfu.cube_kernel USING (kernel_id)
    JOIN mfu.grouped_matmul USING (shape_id)
    JOIN mfu.shape USING (shape_id)
    JOIN mfu.rate USING (data_type)
    WHERE grouped_matmul.has_equal_types AND busy.ratio BETWEEN 0 AND 1
)
SELECT
    kernel_id,
    TRY_CAST(if(cube_flops >= 256 * group_count * flops_per_row, least(cube_flops, flops_at_most), NULL) AS BIGINT) AS flops,
    TRY_CAST(least(cube_flops, flops_at_most) AS BIGINT) AS flops_upper_bound
FROM worked
WHERE cube_flops > 0
