-- One row is a kernel with an mfu, in the columns of OperatorMFU of msprof-analyze 26. It has what mfu.kernel has, but for FLOPs
-- by hardware counters.
--
-- op_name             VARCHAR  the op that launched it; NULL where linked to no op
-- kernel_name         VARCHAR  name of the kernel; NULL when the profile lost it
-- kernel_start_ns     BIGINT   start, Unix ns
-- kernel_end_ns       BIGINT   end, Unix ns
-- kernel_duration_ns  BIGINT   end - start
-- mfu                 DOUBLE   as in mfu.kernel, to 4 decimals
-- actual_tflops       DOUBLE   10^12 a second, to 2 decimals
-- chip_peak_tflops    DOUBLE   10^12 a second, to 2 decimals
-- flops               BIGINT   FLOPs
-- flops_op_name       VARCHAR  what the recording calls it; else the operator type
-- input_shapes        VARCHAR  input shapes; NULL when not recorded
-- output_shapes       VARCHAR  output shapes; NULL when not recorded
SELECT
    op_name.text AS op_name,
    name.text AS kernel_name,
    kernel.start_ns AS kernel_start_ns,
    kernel.end_ns AS kernel_end_ns,
    kernel.duration_ns AS kernel_duration_ns,
    round(kernel.mfu, 4) AS mfu,
    round(kernel.achieved_tflops, 2) AS actual_tflops,
    round(kernel.peak_tflops, 2) AS chip_peak_tflops,
    kernel.flops,
    coalesce(kernel.flops_name, type.text) AS flops_op_name,
    input_shapes.text AS input_shapes,
    output_shapes.text AS output_shapes
FROM mfu.kernel
LEFT JOIN trace.string AS op_name ON op_name.text_id = kernel.op_name_id
LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
LEFT JOIN trace.string AS type ON type.text_id = kernel.type_id
LEFT JOIN trace.string AS input_shapes ON input_shapes.text_id = kernel.input_shapes_id
LEFT JOIN trace.string AS output_shapes ON output_shapes.text_id = kernel.output_shapes_id
WHERE kernel.mfu IS NOT NULL AND kernel.flops_source <> 'counters'
ORDER BY kernel.start_ns, name.text, kernel.kernel_id
