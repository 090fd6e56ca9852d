-- One row is what compute kernels that have all of this in common did, and what their device can do in their time.
--
-- op_name_id            TEXT_ID  the op that launched them; NULL where linked to no op
-- type_id               TEXT_ID  operator type; NULL at Level0
-- input_shapes_id       TEXT_ID  input shapes; NULL when not recorded, and for kernels that multiply no matrices
-- path_id               BIGINT   the path of module.path; NULL outside modules
-- is_cube               BOOLEAN  whether they are in mfu.cube_kernel
-- data_type             VARCHAR  as in mfu.shape
-- flops_source          VARCHAR  as in mfu.kernel_flops
-- peak                  VARCHAR  data type, peak_tflops and peak_from of mfu.peak; NULL where flops is
-- reason                VARCHAR  why flops is NULL; NULL for kernels that multiply no matrices
-- kernel_count          BIGINT   kernels
-- duration_ns           BIGINT   their time, ns
-- known_duration_ns     BIGINT   the same where flops is known, else 0
-- flops                 HUGEINT  FLOPs; NULL when not known, or without a peak
-- possible_flops        HUGEINT  FLOPs of the device in their time at the rated clock, in thousandths; NULL where flops is
-- possible_at_measured  HUGEINT  the same at the real clock; NULL where samples do not tell it for all of them
SELECT
    kernel.op_name_id,
    kernel.type_id,
    if(utilisation.kernel_id IS NULL, NULL, kernel.input_shapes_id) AS input_shapes_id,
    kernel.path_id,
    utilisation.kernel_id IS NOT NULL AS is_cube,
    utilisation.data_type,
    utilisation.flops_source,
    if(
        utilisation.known_flops IS NULL,
        NULL,
        utilisation.data_type || ' ' || round(utilisation.peak_tflops, 1) || ' TFLOPS (' || utilisation.peak_from || ')'
    ) AS peak,
    utilisation.reason,
    count(*) AS kernel_count,
    sum(kernel.duration_ns)::BIGINT AS duration_ns,
    coalesce(sum(kernel.duration_ns) FILTER (utilisation.known_flops IS NOT NULL), 0)::BIGINT AS known_duration_ns,
    sum(utilisation.known_flops)::HUGEINT AS flops,
    sum(utilisation.possible_flops)::HUGEINT AS possible_flops,
    if(
        count(measured_clock.cycles) = count(*),
        sum(at_clock(possible_flops, clock_mhz, utilisation.duration_ns, cycles))::HUGEINT,
        NULL
    ) AS possible_at_measured
FROM module.kernel
LEFT JOIN mfu.utilisation USING (kernel_id)
LEFT JOIN mfu.measured_clock USING (kernel_id)
WHERE kernel.kind = 'compute'
GROUP BY ALL
