-- One row is a module, an op and a shape of matmuls that it launched: their efficiency, and the least time that memory leaves
-- them. Only kernels with known FLOPs and peak count, and where there are steps, only those in steps.
--
-- module           VARCHAR  path of the module, names joined by '/'; NULL outside modules
-- op_name_id       TEXT_ID  name of the op; NULL when linked to no op
-- type_id          TEXT_ID  operator type; NULL when it is not known
-- input_shapes_id  TEXT_ID  input shapes of the kernels, else of the op
-- data_type        VARCHAR  as in mfu.shape
-- kernel_count     BIGINT   kernels
-- duration_ns      BIGINT   their time, ns
-- critical_ns      BIGINT   the part of it in kernels that are critical, as in critical.kernel, ns
-- flops            BIGINT   their FLOPs
-- at_peak_ns       BIGINT   time that these take at the peak, ns
-- efficiency       DOUBLE   at_peak_ns / duration_ns, exactly
-- row_count        BIGINT   rows of one product; NULL when the shapes do not give it, as in formats that pad
-- column_count     BIGINT   columns of it; NULL as row_count
-- inner_count      BIGINT   products that are added up for an element of it; NULL as row_count
-- inner_bytes      BIGINT   as in roofline.tensors, of the inputs; NULL when not known, and in formats that pad
-- bytes            BIGINT   bytes of inputs and outputs of all kernels, of inputs alone where outputs are not recorded; NULL
--                           when not known
-- memory_ns        BIGINT   time to move these at the rate of roofline.bandwidth, ns; NULL when either is not known
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
kernel AS (
    SELECT
        kernel.path_id,
        kernel.op_name_id,
        kernel.type_id,
        judged.input_shapes_id,
        coalesce(device.input_types_id, op_kernel.input_types_id) AS input_types_id,
        device.output_shapes_id,
        device.output_types_id,
        device.input_formats_id,
        device.output_formats_id,
        judged.data_type,
        judged.duration_ns,
        critical.critical_ns,
        judged.known_flops,
        judged.possible_flops
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
      AND (ends_with(shape.family, 'matmul') OR op_form.form IN ('product', 'linear', 'grouped product'))
      AND (NOT recorded_steps.has_rows OR judged.kernel_id IN (SELECT kernel_id FROM kernels.step))
),
summed_matmul AS (
    SELECT
        path_id,
        op_name_id,
        type_id,
        input_shapes_id,
        input_types_id,
        output_shapes_id,
        output_types_id,
        input_formats_id,
        output_formats_id,
        data_type,
        count(*) AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(known_flops)::HUGEINT AS flops,
        sum(possible_flops)::HUGEINT AS possible_flops,
        min(known_flops) AS flops_of_one
    FROM kernel
    GROUP BY ALL
),
-- The tensors with two dims or more: of the inputs, the first two are multiplied.
shaped AS (
    SELECT
        summed_matmul.*,
        list_filter(
            list_transform(string_split(tensor_list(inputs.text), ';'), lambda shape: dims_of(shape)),
            lambda dims: len(dims) >= 2
        ) AS matrices,
        dims_of(split_part(tensor_list(outputs.text), ';', 1)) AS result,
        coalesce(is_padded_format(format_of(input_formats.text)), false) AS has_padded_input,
        coalesce(is_padded_format(format_of(split_part(input_formats.text, ';', 1))), false)
            OR coalesce(is_padded_format(format_of(output_formats.text)), false) AS has_padded_rows
    FROM summed_matmul
    LEFT JOIN trace.string AS input_formats ON input_formats.text_id = summed_matmul.input_formats_id
    LEFT JOIN trace.string AS output_formats ON output_formats.text_id = summed_matmul.output_formats_id
    LEFT JOIN trace.string AS inputs ON inputs.text_id = summed_matmul.input_shapes_id
    LEFT JOIN trace.string AS outputs ON outputs.text_id = summed_matmul.output_shapes_id
),
-- Where the result is not recorded, the first matrix is not turned. Without a batch, all dims but the last are rows.
with_result AS (
    SELECT
        *,
        coalesce(result, matrices[1]) AS rows_of,
        len(matrices[2]) > 2 AND len(coalesce(result, matrices[1])) > 2 AS is_batched
    FROM shaped
),
with_rows AS (
    SELECT
        *,
        CASE WHEN NOT has_padded_rows THEN if(is_batched, rows_of[-2], count_of(rows_of[:-2])) END AS row_count,
        CASE
            WHEN NOT has_padded_rows
                THEN if(result IS NULL, matrices[1][-1], flops_of_one // nullif(2 * count_of(result), 0))
        END AS inner_count,
        if(is_batched, count_of(rows_of[:-3]), 1) AS batch_count
    FROM with_result
)
SELECT
    path.module_path AS module,
    with_rows.op_name_id,
    with_rows.type_id,
    with_rows.input_shapes_id,
    with_rows.data_type,
    with_rows.kernel_count,
    with_rows.duration_ns,
    with_rows.critical_ns,
    TRY_CAST(with_rows.flops AS BIGINT) AS flops,
    (with_rows.flops * 1000 * with_rows.duration_ns // with_rows.possible_flops)::BIGINT AS at_peak_ns,
    with_rows.flops * 1000 / with_rows.possible_flops AS efficiency,
    with_rows.row_count,
    with_rows.flops_of_one // nullif(2 * with_rows.batch_count * with_rows.row_count * with_rows.inner_count, 0)
        AS column_count,
    with_rows.inner_count,
    if(with_rows.has_padded_input, NULL, inputs.inner_bytes) AS inner_bytes,
    with_rows.kernel_count * (inputs.bytes + coalesce(outputs.bytes, 0)) AS bytes,
    with_rows.kernel_count * (inputs.bytes + coalesce(outputs.bytes, 0)) * 1000 // bandwidth.bytes_per_us AS memory_ns
FROM with_rows
LEFT JOIN module.path USING (path_id)
LEFT JOIN roofline.tensors AS inputs
    ON inputs.shapes_id = with_rows.input_shapes_id AND inputs.types_id = with_rows.input_types_id
LEFT JOIN roofline.tensors AS outputs
    ON outputs.shapes_id = with_rows.output_shapes_id AND outputs.types_id = with_rows.output_types_id
LEFT JOIN roofline.bandwidth ON true
ORDER BY with_rows.duration_ns DESC, with_rows.path_id, with_rows.op_name_id, with_rows.type_id, with_rows.input_shapes_id
