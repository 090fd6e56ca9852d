-- One row is a set of compute kernels that agree in all columns up to reason, their FLOPs, and the FLOPs that their device can
-- do in their time.
--
-- op_name_id            TEXT_ID  the op that launched them; NULL where linked to no op
-- type_id               TEXT_ID  operator type; NULL when it is not known
-- input_shapes_id       TEXT_ID  input shapes, as in mfu.shape; NULL when not recorded, and for kernels that multiply no
--                                matrices
-- path_id               BIGINT   the path of module.path; NULL outside modules
-- is_cube               BOOLEAN  whether they may multiply matrices: those of mfu.judged
-- data_type             VARCHAR  as in mfu.shape
-- flops_source          VARCHAR  as in mfu.judged
-- peak                  VARCHAR  data type, peak_tflops and peak_from of mfu.peak; NULL where known_flops is
-- reason                VARCHAR  why known_flops is NULL; NULL for kernels that multiply no matrices
-- kernel_count          BIGINT   kernels
-- duration_ns           BIGINT   their time, ns
-- flops_duration_ns     BIGINT   part of duration_ns in kernels with known FLOPs, ns; 0 without any
-- known_duration_ns     BIGINT   part of duration_ns in kernels with known_flops, ns; 0 without any
-- mac_duration_ns       BIGINT   part of duration_ns in kernels with a mac_ratio of mfu.judged, ns; NULL without any
-- mac_time              HUGEINT  sum of mac_ratio * time over these, in 10^-12 ns; NULL without any
-- flops                 HUGEINT  FLOPs; NULL when not known
-- known_flops           HUGEINT  FLOPs of the kernels whose peak is known too; NULL without any
-- possible_flops        HUGEINT  FLOPs that the device can do in the time of these kernels at the rated clock, in thousandths;
--                                NULL where known_flops is
-- possible_at_measured  HUGEINT  the same at the real clock; NULL where clock samples do not cover all of them
-- at_peak_ps            BIGINT   time that known_flops would take at the peak, ps; NULL where known_flops is
SELECT
    kernel.op_name_id,
    kernel.type_id,
    judged.input_shapes_id,
    kernel.path_id,
    judged.kernel_id IS NOT NULL AS is_cube,
    judged.data_type,
    judged.flops_source,
    if(
        judged.known_flops IS NULL,
        NULL,
        judged.data_type || ' ' || round(judged.peak_tflops, 1) || ' TFLOPS (' || judged.peak_from || ')'
    ) AS peak,
    judged.reason,
    count(*) AS kernel_count,
    sum(kernel.duration_ns)::BIGINT AS duration_ns,
    coalesce(sum(kernel.duration_ns) FILTER (judged.flops IS NOT NULL), 0)::BIGINT AS flops_duration_ns,
    coalesce(sum(kernel.duration_ns) FILTER (judged.known_flops IS NOT NULL), 0)::BIGINT AS known_duration_ns,
    (sum(kernel.duration_ns) FILTER (judged.mac_ratio IS NOT NULL))::BIGINT AS mac_duration_ns,
    sum(ratio_time(judged.mac_ratio, kernel.duration_ns))::HUGEINT AS mac_time,
    sum(judged.flops)::HUGEINT AS flops,
    sum(judged.known_flops)::HUGEINT AS known_flops,
    sum(judged.possible_flops)::HUGEINT AS possible_flops,
    if(
        count(measured_clock.cycles) = count(*),
        sum(at_clock(possible_flops, clock_mhz, judged.duration_ns, cycles))::HUGEINT,
        NULL
    ) AS possible_at_measured,
    -- They have one peak.
    (sum(judged.known_flops)::HUGEINT * 1000000 * sum(judged.duration_ns) // sum(judged.possible_flops))::BIGINT
        AS at_peak_ps
FROM module.kernel
LEFT JOIN mfu.judged USING (kernel_id)
LEFT JOIN mfu.measured_clock USING (kernel_id)
WHERE kernel.kind = 'compute'
GROUP BY ALL
