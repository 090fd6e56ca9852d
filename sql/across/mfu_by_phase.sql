-- One row is a phase of passes of a server over all ranks: its model FLOPs utilisation, and how well its kernels used the cube
-- cores, the phase of most time first.
--
-- @columns phase to placed_ns as in mfu.by_phase
WITH phase AS (
    SELECT
        phase,
        sum(at_peak_ps) / nullif(sum(elapsed_ns), 0) / 1000 AS mfu,
        sum(known_flops) / nullif(sum(possible_flops), 0) AS efficiency,
        sum(flops) / nullif(sum(flops_duration_ns), 0) / 1000 AS achieved_tflops,
        sum(known_duration_ns) / nullif(sum(duration_ns), 0) AS known_share,
        sum(elapsed_ns)::BIGINT AS elapsed_ns,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(cube_duration_ns)::BIGINT AS cube_duration_ns,
        sum(flops_duration_ns)::BIGINT AS flops_duration_ns,
        sum(known_duration_ns)::BIGINT AS known_duration_ns,
        TRY_CAST(sum(flops) AS BIGINT) AS flops,
        TRY_CAST(sum(known_flops) AS BIGINT) AS known_flops,
        TRY_CAST(sum(possible_flops) AS BIGINT) AS possible_flops,
        sum(at_peak_ps)::BIGINT AS at_peak_ps,
        sum(kernel_count)::BIGINT AS kernel_count,
        string_agg(DISTINCT reasons, '; ' ORDER BY reasons) AS reasons
    FROM mfu.by_phase
    GROUP BY phase
),
of_rank AS (
    SELECT
        phase AS category,
        duration_ns AS total_ns,
        kernel_count,
        memory_gb_s,
        flops,
        flops_duration_ns AS flops_ns,
        known_flops,
        possible_flops,
        bytes,
        bytes_ns,
        placed_flops,
        possible_placed_flops,
        placed_bytes,
        placed_ns
    FROM mfu.by_phase
),
summed AS (
    FROM sums_of_ranks(of_rank)
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
