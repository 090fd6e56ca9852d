-- One row is a kernel with an efficiency, in the columns of OperatorMFU of msprof-analyze 26. The figures are those of
-- mfu.kernel_efficiency, without kernels whose FLOPs come from hardware counters.
--
-- op_name             VARCHAR  the op that launched it; NULL where linked to no op
-- kernel_name         VARCHAR  name of the kernel; NULL when the profile lost it
-- kernel_start_ns     BIGINT   start, Unix ns
-- kernel_end_ns       BIGINT   end, Unix ns
-- kernel_duration_ns  BIGINT   end - start
-- mfu                 DOUBLE   efficiency of mfu.kernel_efficiency, rounded to 4 decimals
-- actual_tflops       DOUBLE   flops / duration, 10^12 per second, rounded to 2 decimals
-- chip_peak_tflops    DOUBLE   peak, 10^12 per second, rounded to 2 decimals
-- flops               BIGINT   FLOPs
-- flops_op_name       VARCHAR  its name in the recording, else the operator type
-- input_shapes        VARCHAR  input shapes; NULL when not recorded
-- output_shapes       VARCHAR  output shapes; NULL when not recorded
SELECT
    op_name.text AS op_name,
    name.text AS kernel_name,
    kernel_efficiency.start_ns AS kernel_start_ns,
    kernel_efficiency.end_ns AS kernel_end_ns,
    kernel_efficiency.duration_ns AS kernel_duration_ns,
    round(kernel_efficiency.efficiency, 4) AS mfu,
    round(kernel_efficiency.achieved_tflops, 2) AS actual_tflops,
    round(kernel_efficiency.peak_tflops, 2) AS chip_peak_tflops,
    kernel_efficiency.flops,
    coalesce(kernel_efficiency.flops_name, type.text) AS flops_op_name,
    input_shapes.text AS input_shapes,
    output_shapes.text AS output_shapes
FROM mfu.kernel_efficiency
LEFT JOIN trace.string AS op_name ON op_name.text_id = kernel_efficiency.op_name_id
LEFT JOIN trace.string AS name ON name.text_id = kernel_efficiency.name_id
LEFT JOIN trace.string AS type ON type.text_id = kernel_efficiency.type_id
LEFT JOIN trace.string AS input_shapes ON input_shapes.text_id = kernel_efficiency.input_shapes_id
LEFT JOIN trace.string AS output_shapes ON output_shapes.text_id = kernel_efficiency.output_shapes_id
WHERE kernel_efficiency.efficiency IS NOT NULL AND kernel_efficiency.flops_source <> 'counters'
ORDER BY kernel_efficiency.start_ns, name.text, kernel_efficiency.kernel_id
