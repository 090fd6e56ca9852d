-- One row is a kernel that may multiply matrices.
--
-- kernel_id    BIGINT  a kernel of trace.kernel
-- shape_id     BIGINT  its description in mfu.shape
-- device_id    BIGINT  device; NULL when not recorded
-- start_ns     BIGINT  start, Unix ns
-- end_ns       BIGINT  end, Unix ns
-- duration_ns  BIGINT  end - start
SELECT
    kernel.kernel_id,
    shape.shape_id,
    kernel.device_id,
    kernel.start_ns,
    kernel.end_ns,
    kernel.duration_ns
FROM trace.kernel
JOIN mfu.shape
    ON shape.type_id IS NOT DISTINCT FROM kernel.type_id
    AND shape.core_id IS NOT DISTINCT FROM kernel.core_id
    AND shape.input_shapes_id IS NOT DISTINCT FROM kernel.input_shapes_id
    AND shape.input_types_id IS NOT DISTINCT FROM kernel.input_types_id
    AND shape.input_formats_id IS NOT DISTINCT FROM kernel.input_formats_id
    AND shape.output_shapes_id IS NOT DISTINCT FROM kernel.output_shapes_id
    AND shape.output_formats_id IS NOT DISTINCT FROM kernel.output_formats_id
    AND shape.hf32_eligible_id IS NOT DISTINCT FROM kernel.hf32_eligible_id
WHERE kernel.kind = 'compute'
UNION ALL
SELECT kernel.kernel_id, op_kernel.shape_id, kernel.device_id, kernel.start_ns, kernel.end_ns, kernel.duration_ns
FROM mfu.op_kernel
JOIN trace.kernel USING (kernel_id)
