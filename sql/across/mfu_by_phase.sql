-- One row is a phase of passes of a server over all ranks: its model FLOPs utilisation, and how well its kernels used the cube
-- cores, the phase of most time first.
--
-- @columns phase to reasons as in mfu.by_phase
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
ORDER BY sum(duration_ns) DESC, phase
