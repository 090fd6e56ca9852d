-- One row is a module, an op and a description of kernels that it launched, with their number and time, and how much of the
-- device they left unused. Kernels outside all steps do not count where there are steps.
--
-- kind            ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels: compute, or copy
-- module          VARCHAR  path of the module, names joined by '/'; NULL outside modules
-- op_name_id      TEXT_ID  name of the op; NULL when linked to no op
-- type_id         TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- engine          ENUM('matrix', 'vector', 'matrix and vector', 'copy', 'cpu')  as in trace.kernel; NULL when not known
-- role            VARCHAR  as in kernels.role; of type conversions, 'conversion and back' for those that have one of the same
--                          shape the other way in the module, or where there are no modules, in the rank; NULL for what
--                          computes. Outside modules, optimizers convert weights and gradients, which are no pairs
-- multiplies      BOOLEAN  whether there is a formula for the FLOPs of their matrix products, as for matmuls, convolutions and
--                          attention
-- data_type       VARCHAR  of what multiplies, as in mfu.shape; of all else the type of its floating inputs: fp32, fp16, bf16
--                          or fp64, or mixed; NULL when not recorded and without such inputs
-- faster_type     VARCHAR  data type in which FP32 matrices would be multiplied faster and are not: hf32, or tf32 where the
--                          device has it or may have it; else NULL
-- input_types_id  TEXT_ID  input data types; those of the op where kernels have none; NULL when not recorded
-- output_types_id TEXT_ID  output data types; NULL when not recorded
-- kernel_count    BIGINT   kernels
-- duration_ns     BIGINT   their time, ns
-- critical_ns     BIGINT   the part of it in kernels that are critical, as in critical.kernel, ns: of all others a shorter time
--                          wins nothing
-- least_blocks    BIGINT   blocks of the kernel with the fewest; NULL when not recorded
-- most_blocks     BIGINT   blocks of the kernel with the most; NULL when not recorded
-- core_count      BIGINT   cores that the device has for them, as in kernels.core; NULL when not known
-- idle_ns         BIGINT   by how much they would be shorter at most if all cores shared their blocks evenly, ns; NULL when not
--                          known
-- critical_idle_ns BIGINT  the part of idle_ns in kernels that are critical, ns; NULL when not known
-- phase           VARCHAR  phase of the passes of a server in which they ran, as in pass.instance; NULL when not known, and
--                          outside passes
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
counted_kernel AS (
    SELECT
        kernel.kernel_id,
        kernel.kind,
        kernel.path_id,
        kernel.op_name_id,
        kernel.name_id,
        kernel.type_id,
        kernel.start_ns,
        kernel.duration_ns,
        coalesce(kernel.input_shapes_id, op_input.input_shapes_id) AS input_shapes_id,
        coalesce(kernel.input_types_id, op_input.input_types_id) AS input_types_id,
        kernel.input_types_id IS NULL AS is_of_op,
        device.device_id,
        device.output_types_id,
        device.engine,
        if(device.block_num > 0, device.block_num, NULL) AS block_num,
        coalesce(critical.critical_ns, kernel.duration_ns) AS critical_ns,
        device.hf32_eligible_id IS NOT NULL AS has_hf32
    FROM module.kernel
    JOIN trace.kernel AS device USING (kernel_id)
    LEFT JOIN trace.op_input ON op_input.op_id = kernel.op_id
    LEFT JOIN critical.kernel AS critical ON critical.kernel_id = kernel.kernel_id
    CROSS JOIN recorded_steps
    WHERE kernel.kind IN ('compute', 'copy')
      AND (NOT recorded_steps.has_rows OR kernel.kernel_id IN (SELECT kernel_id FROM kernels.step))
),
-- The formats that a conversion reads and writes. PyTorch's copy lists its output before its input.
conversion AS (
    SELECT
        counted_kernel.kernel_id,
        counted_kernel.path_id,
        counted_kernel.input_shapes_id,
        counted_kernel.start_ns,
        if(counted_kernel.is_of_op, split_part(inputs.text, ';', 2), inputs.text) AS from_type,
        if(counted_kernel.is_of_op, split_part(inputs.text, ';', 1), outputs.text) AS to_type
    FROM counted_kernel
    JOIN kernels.role ON role.name_id = counted_kernel.name_id AND role.type_id IS NOT DISTINCT FROM counted_kernel.type_id
    JOIN trace.string AS inputs ON inputs.text_id = counted_kernel.input_types_id
    LEFT JOIN trace.string AS outputs ON outputs.text_id = counted_kernel.output_types_id
    WHERE role.role = 'type conversion'
),
numbered_conversion AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY path_id, input_shapes_id, from_type, to_type ORDER BY start_ns, kernel_id) AS number
    FROM conversion
),
there AS (
    SELECT path_id, input_shapes_id, from_type, to_type, count(*) AS conversion_count
    FROM conversion
    GROUP BY ALL
),
paired_conversion AS (
    SELECT numbered_conversion.kernel_id
    FROM numbered_conversion
    JOIN there AS back
        ON back.path_id IS NOT DISTINCT FROM numbered_conversion.path_id
        AND back.input_shapes_id IS NOT DISTINCT FROM numbered_conversion.input_shapes_id
        AND back.from_type = numbered_conversion.to_type
        AND back.to_type = numbered_conversion.from_type
    WHERE numbered_conversion.number <= back.conversion_count
      AND numbered_conversion.from_type <> numbered_conversion.to_type
      AND (numbered_conversion.path_id IS NOT NULL OR NOT EXISTS (FROM module.path))
),
-- Of the types of the inputs, those of floating numbers.
typed_inputs AS (
    SELECT
        text_id AS input_types_id,
        list_distinct(
            list_filter(list_transform(string_split(text, ';'), lambda type: float_type_of(type)), lambda one: one IS NOT NULL)
        ) AS types
    FROM trace.string
    WHERE text_id IN (SELECT input_types_id FROM counted_kernel)
),
multiplying AS (
    SELECT cube_kernel.kernel_id, shape.data_type
    FROM mfu.cube_kernel
    JOIN mfu.shape USING (shape_id)
    WHERE shape.family IS NOT NULL
),
in_pass AS (
    SELECT kernel.kernel_id, instance.phase
    FROM pass.kernel
    JOIN pass.instance USING (pass_id)
),
described_kernel AS (
    SELECT
        counted_kernel.*,
        CASE
            WHEN paired_conversion.kernel_id IS NOT NULL THEN 'conversion and back'
            WHEN copy.direction = 'device to device' THEN 'copy'
            ELSE role.role
        END AS role,
        multiplying.kernel_id IS NOT NULL AS multiplies,
        CASE
            WHEN multiplying.kernel_id IS NOT NULL THEN multiplying.data_type
            WHEN len(typed_inputs.types) = 1 THEN typed_inputs.types[1]
            WHEN len(typed_inputs.types) > 1 THEN 'mixed'
        END AS data_type,
        core.core_count,
        in_pass.phase
    FROM counted_kernel
    LEFT JOIN kernels.role ON role.name_id = counted_kernel.name_id AND role.type_id IS NOT DISTINCT FROM counted_kernel.type_id
    LEFT JOIN paired_conversion ON paired_conversion.kernel_id = counted_kernel.kernel_id
    LEFT JOIN trace.copy ON copy.kernel_id = counted_kernel.kernel_id
    LEFT JOIN multiplying ON multiplying.kernel_id = counted_kernel.kernel_id
    LEFT JOIN typed_inputs ON typed_inputs.input_types_id = counted_kernel.input_types_id
    LEFT JOIN in_pass ON in_pass.kernel_id = counted_kernel.kernel_id
    LEFT JOIN kernels.core
        ON core.device_id IS NOT DISTINCT FROM counted_kernel.device_id
        AND core.engine IS NOT DISTINCT FROM counted_kernel.engine
),
chip AS (
    SELECT coalesce(bool_and(NOT has_tf32), false) AS lacks_tf32
    FROM trace.chip
),
summed_kernel AS (
    SELECT
        kind,
        path_id,
        op_name_id,
        type_id,
        engine,
        role,
        multiplies,
        data_type,
        if(
            multiplies AND data_type = 'fp32', if(has_hf32, 'hf32', if(chip.lacks_tf32, NULL, 'tf32')), NULL
        ) AS faster_type,
        input_types_id,
        output_types_id,
        count(*) AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        min(block_num) AS least_blocks,
        max(block_num) AS most_blocks,
        core_count,
        sum(idle_part(duration_ns, block_num, core_count))::BIGINT AS idle_ns,
        sum(idle_part(critical_ns, block_num, core_count))::BIGINT AS critical_idle_ns,
        phase
    FROM described_kernel
    CROSS JOIN chip
    GROUP BY ALL
)
SELECT
    summed_kernel.kind,
    path.module_path AS module,
    summed_kernel.* EXCLUDE (kind, path_id)
FROM summed_kernel
LEFT JOIN module.path USING (path_id)
ORDER BY
    summed_kernel.duration_ns DESC,
    summed_kernel.path_id,
    summed_kernel.op_name_id,
    summed_kernel.type_id,
    summed_kernel.input_types_id,
    summed_kernel.phase
