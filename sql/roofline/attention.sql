-- One row is a module, an op and a shape of attention kernels that it launched: their efficiency, and how much they compute
-- with each byte. Only kernels with known FLOPs and peak count, and where there are steps, only those in steps.
--
-- @columns module to data_type as in roofline.matmul
-- is_gradient      BOOLEAN  whether they compute gradients
-- @columns kernel_count to critical_ns as in roofline.matmul
-- at_peak_ns       BIGINT   time that their FLOPs take at the peak, ns
-- efficiency       DOUBLE   at_peak_ns / duration_ns, exactly
-- flops_per_byte   DOUBLE   FLOPs for each byte of inputs and outputs, of inputs alone where outputs are not recorded; NULL
--                           when bytes are not known
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
attention AS (
    SELECT
        kernel.path_id,
        kernel.op_name_id,
        kernel.type_id,
        judged.input_shapes_id,
        coalesce(device.input_types_id, op_kernel.input_types_id) AS input_types_id,
        device.output_shapes_id,
        device.output_types_id,
        judged.data_type,
        coalesce(ends_with(shape.family, 'gradient') OR op_form.form = 'attention gradient', false) AS is_gradient,
        count(*) AS kernel_count,
        sum(judged.duration_ns)::BIGINT AS duration_ns,
        sum(critical.critical_ns)::BIGINT AS critical_ns,
        sum(judged.known_flops)::HUGEINT AS flops,
        sum(judged.possible_flops)::HUGEINT AS possible_flops
    FROM mfu.judged
    JOIN module.kernel USING (kernel_id)
    JOIN trace.kernel AS device USING (kernel_id)
    JOIN mfu.cube_kernel USING (kernel_id)
    JOIN mfu.shape USING (shape_id)
    JOIN critical.kernel AS critical USING (kernel_id)
    LEFT JOIN mfu.op_kernel USING (kernel_id)
    LEFT JOIN mfu.op_form ON op_form.name_id = op_kernel.name_id
    CROSS JOIN recorded_steps
    WHERE judged.known_flops > 0
      AND (contains(shape.family, 'attention') OR starts_with(op_form.form, 'attention'))
      AND (NOT recorded_steps.has_rows OR judged.kernel_id IN (SELECT kernel_id FROM kernels.step))
    GROUP BY ALL
)
SELECT
    path.module_path AS module,
    attention.op_name_id,
    attention.type_id,
    attention.input_shapes_id,
    attention.data_type,
    attention.is_gradient,
    attention.kernel_count,
    attention.duration_ns,
    attention.critical_ns,
    (attention.flops * 1000 * attention.duration_ns // attention.possible_flops)::BIGINT AS at_peak_ns,
    attention.flops * 1000 / attention.possible_flops AS efficiency,
    attention.flops / (attention.kernel_count * nullif(inputs.bytes + coalesce(outputs.bytes, 0), 0)) AS flops_per_byte
FROM attention
LEFT JOIN module.path USING (path_id)
LEFT JOIN roofline.tensors AS inputs
    ON inputs.shapes_id = attention.input_shapes_id AND inputs.types_id = attention.input_types_id
LEFT JOIN roofline.tensors AS outputs
    ON outputs.shapes_id = attention.output_shapes_id AND outputs.types_id = attention.output_types_id
ORDER BY attention.duration_ns DESC, attention.path_id, attention.op_name_id, attention.type_id, attention.input_shapes_id
