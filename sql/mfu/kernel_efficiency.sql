-- One row is a kernel that may multiply matrices, with its efficiency: how much of the peak of the cube cores it used while it
-- ran. With a step chosen, only the kernels whose op started in that step.
--
-- kernel_id              BIGINT   a kernel of module.kernel
-- name_id                TEXT_ID  name of the kernel
-- type_id                TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- core_id                TEXT_ID  cores it ran on
-- device_id              BIGINT   device; NULL when not recorded
-- @columns start_ns to duration_ns as in module.kernel
-- efficiency             DOUBLE   flops / duration / peak; NULL with a reason
-- mfu                    DOUBLE   its part of the rank's MFU: flops / elapsed_ns of mfu.elapsed / peak; NULL where efficiency
--                                 is
-- flops                  BIGINT   operations of its matrix products, a multiplication and an addition are two; NULL when not
--                                 known, and where they would exceed the peak, see mfu.audit
-- flops_source           VARCHAR  where flops comes from: recorded, marks, shapes, padded shapes, op shapes, or counters; NULL
--                                 without flops
-- flops_name             VARCHAR  its name in the recording; NULL where nothing was recorded
-- padded_flops           BIGINT   FLOPs by its shapes with the padding of the format; NULL when not known
-- flops_upper_bound      BIGINT   where flops is NULL, an upper bound; NULL where that is unknown too
-- achieved_tflops        DOUBLE   flops / duration, 10^12 per second; NULL without flops
-- data_type              VARCHAR  the type that decides the peak, as in mfu.shape; NULL when not recorded
-- peak_tflops            DOUBLE   peak of the device for the data type at the rated clock, 10^12 per second; NULL when not
--                                 known
-- peak_from              VARCHAR  where the peak comes from; NULL without one
-- measured_clock_mhz     DOUBLE   mean real clock of the device while it ran, MHz; NULL without samples
-- efficiency_at_measured_clock  DOUBLE  efficiency with the peak at that clock; NULL without it
-- mac_ratio              DOUBLE   of a kernel without a formula, part of the time of the cube cores in which the matrix unit
--                                 worked, by hardware counters; NULL when not recorded, and for other kernels
-- reason                 VARCHAR  why efficiency is NULL
-- input_shapes_id        TEXT_ID  input shapes, as in mfu.shape; NULL when not recorded
-- output_shapes_id       TEXT_ID  output shapes; NULL when not recorded
-- op_id                  BIGINT   the op that launched it; NULL when linked to no op
-- op_name_id             TEXT_ID  name of that op; NULL when linked to no op
-- @columns path_id to module as in module.kernel
SELECT
    judged.kernel_id,
    kernel.name_id,
    kernel.type_id,
    kernel.core_id,
    kernel.device_id,
    kernel.start_ns,
    kernel.end_ns,
    kernel.duration_ns,
    judged.known_flops * 1000 / judged.possible_flops AS efficiency,
    judged.known_flops * 1000 / judged.possible_flops * judged.duration_ns / elapsed.elapsed_ns AS mfu,
    judged.flops,
    judged.flops_source,
    judged.flops_name,
    judged.padded_flops,
    judged.flops_upper_bound,
    judged.flops / nullif(judged.duration_ns, 0) / 1000 AS achieved_tflops,
    judged.data_type,
    judged.peak_tflops,
    judged.peak_from,
    measured_clock.cycles / nullif(judged.duration_ns, 0) AS measured_clock_mhz,
    judged.known_flops * 1000
        / nullif(at_clock(possible_flops, clock_mhz, judged.duration_ns, cycles), 0) AS efficiency_at_measured_clock,
    judged.mac_ratio,
    judged.reason,
    judged.input_shapes_id,
    kernel.output_shapes_id,
    kernel.op_id,
    kernel.op_name_id,
    kernel.path_id,
    kernel.parent_module,
    kernel.module
FROM mfu.judged
CROSS JOIN mfu.elapsed
LEFT JOIN mfu.measured_clock USING (kernel_id)
JOIN module.kernel USING (kernel_id)
LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
ORDER BY kernel.start_ns, name.text, judged.kernel_id
