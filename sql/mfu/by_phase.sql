-- One row is a phase of passes of a server: its model FLOPs utilisation, and how well its kernels used the cube cores, the
-- phase of most time first. Kernels of no pass have a row of their own.
--
-- @guard pass.kernel
--
-- phase              VARCHAR  as in pass.kernel_phase
-- mfu                DOUBLE   model FLOPs utilisation: at_peak_ps / elapsed_ns / 1000; NULL without any
-- efficiency         DOUBLE   known_flops / possible_flops; NULL without any
-- achieved_tflops    DOUBLE   flops / the time of the kernels with known FLOPs, 10^12 per second; NULL without any
-- known_share        DOUBLE   known_duration_ns / duration_ns; NULL when that is 0
-- elapsed_ns         BIGINT   time of its passes on the device, as in pass.turn, ns; for kernels of no pass the time outside
--                             passes
-- duration_ns        BIGINT   time of its compute kernels, ns
-- cube_duration_ns   BIGINT   part of it in kernels that may multiply matrices, ns
-- flops_duration_ns  BIGINT   part of it in kernels with known FLOPs, ns
-- known_duration_ns  BIGINT   part of it in kernels whose peak is known too, ns
-- flops              BIGINT   FLOPs of the kernels with known FLOPs; NULL without any
-- known_flops        BIGINT   FLOPs of those whose peak is known too; NULL without any
-- possible_flops     BIGINT   FLOPs that the device can do in the time of these; NULL without any
-- at_peak_ps         BIGINT   time that known_flops would take at the peak, ps; NULL without any
-- kernel_count       BIGINT   compute kernels
-- reasons            VARCHAR  why kernels of cube_duration_ns have no efficiency, joined by '; '; NULL when all have one
-- @columns bandwidth_gb_s to bound, bytes_time_share to memory_gb_s, bytes to placed_ns as in kernels.by_category
WITH elapsed AS (
    SELECT
        CASE WHEN turn.pass_id IS NULL THEN 'no pass' ELSE coalesce(instance.phase, 'unknown') END AS phase,
        sum(turn.end_ns - turn.start_ns)::BIGINT AS elapsed_ns
    FROM pass.turn
    LEFT JOIN pass.instance USING (pass_id)
    GROUP BY ALL
),
-- Kernels of one peak: the time at it is a quotient of sums.
work AS (
    SELECT
        kernel_phase.phase,
        judged.peak_tflops,
        count(*) AS kernel_count,
        sum(kernel.duration_ns)::BIGINT AS duration_ns,
        coalesce(sum(kernel.duration_ns) FILTER (judged.kernel_id IS NOT NULL), 0)::BIGINT AS cube_duration_ns,
        coalesce(sum(kernel.duration_ns) FILTER (judged.flops IS NOT NULL), 0)::BIGINT AS flops_duration_ns,
        coalesce(sum(kernel.duration_ns) FILTER (judged.known_flops IS NOT NULL), 0)::BIGINT AS known_duration_ns,
        sum(judged.flops)::HUGEINT AS flops,
        sum(judged.known_flops)::HUGEINT AS known_flops,
        sum(judged.possible_flops)::HUGEINT AS possible_flops,
        (
            sum(judged.known_flops)::HUGEINT * 1000000 * sum(kernel.duration_ns) FILTER (judged.known_flops IS NOT NULL)
            // sum(judged.possible_flops)
        )::BIGINT AS at_peak_ps,
        string_agg(DISTINCT judged.reason, '; ' ORDER BY judged.reason) AS reasons
    FROM trace.kernel
    JOIN pass.kernel_phase USING (kernel_id)
    LEFT JOIN mfu.judged USING (kernel_id)
    WHERE kernel.kind = 'compute'
    GROUP BY kernel_phase.phase, judged.peak_tflops
),
phase AS (
    SELECT
        work.phase,
        sum(at_peak_ps) / nullif(min(elapsed.elapsed_ns), 0) / 1000 AS mfu,
        sum(known_flops) * 1000 / nullif(sum(possible_flops), 0) AS efficiency,
        sum(flops) / nullif(sum(flops_duration_ns), 0) / 1000 AS achieved_tflops,
        sum(known_duration_ns) / nullif(sum(duration_ns), 0) AS known_share,
        coalesce(min(elapsed.elapsed_ns), 0) AS elapsed_ns,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(cube_duration_ns)::BIGINT AS cube_duration_ns,
        sum(flops_duration_ns)::BIGINT AS flops_duration_ns,
        sum(known_duration_ns)::BIGINT AS known_duration_ns,
        TRY_CAST(sum(flops) AS BIGINT) AS flops,
        TRY_CAST(sum(known_flops) AS BIGINT) AS known_flops,
        TRY_CAST(sum(possible_flops) // 1000 AS BIGINT) AS possible_flops,
        sum(at_peak_ps)::BIGINT AS at_peak_ps,
        sum(kernel_count)::BIGINT AS kernel_count,
        string_agg(DISTINCT reasons, '; ' ORDER BY reasons) AS reasons
    FROM work
    LEFT JOIN elapsed USING (phase)
    GROUP BY work.phase
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
computing AS (
    SELECT
        kernel_phase.phase AS category,
        kernel.duration_ns,
        judged.flops,
        judged.known_flops,
        judged.possible_flops,
        moved.bytes
    FROM trace.kernel
    JOIN pass.kernel_phase USING (kernel_id)
    LEFT JOIN mfu.judged USING (kernel_id)
    LEFT JOIN roofline.moved USING (kernel_id)
    WHERE kernel.kind = 'compute'
),
summed AS (
    FROM sums_of_kernels(computing, memory)
)
SELECT
    phase.*,
    rated.bandwidth_gb_s,
    rated.memory_share,
    rated.bound,
    rated.bytes_time_share,
    rated.flops_per_byte,
    rated.ridge_flops_per_byte,
    rated.memory_gb_s,
    rated.bytes,
    rated.bytes_ns,
    rated.placed_flops,
    rated.possible_placed_flops,
    rated.placed_bytes,
    rated.placed_ns
FROM phase
JOIN rated_categories(summed) AS rated ON rated.category = phase.phase
ORDER BY phase.duration_ns DESC, phase.phase
