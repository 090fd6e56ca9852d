-- One row is a module, an op, a type and a shape of kernels that read and write whole tensors and compute little: casts, ops
-- element by element, sums and the like. Only kernels whose bytes are known count, alone in their op where the op has the
-- shapes, and where there are steps, only those in steps.
--
-- @guard trace.op_input
--
-- module           VARCHAR  path of the module, names joined by '/'; NULL outside modules
-- op_name_id       TEXT_ID  name of the op
-- type_id          TEXT_ID  operator type; NULL when it is not known
-- input_shapes_id  TEXT_ID  input shapes of the op
-- input_types_id   TEXT_ID  input data types of the op
-- kernel_count     BIGINT   kernels
-- duration_ns      BIGINT   their time, ns
-- critical_ns      BIGINT   the part of it in kernels that are critical, as in critical.kernel, ns
-- bytes            BIGINT   bytes that they read and write
-- bandwidth_gb_s   DOUBLE   bytes / time, 10^9 bytes per second
-- memory_gb_s      DOUBLE   bandwidth of the memory by the data sheet of the device, 10^9 bytes per second
-- product          VARCHAR  the device
--
-- An op reads its inputs, and writes a result of the size of the largest one; PyTorch's copy, which casts too, lists what it
-- writes as an input, and sums write little. A tensor that repeats in memory (expand) counts as if it did not, so that its
-- kernel seems faster.
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
chip AS (
    SELECT product
    FROM trace.chip
),
known_product AS (
    SELECT product, pattern, memory_gb_s
    FROM roofline.product
),
memory AS (
    FROM memory_of_device(chip, known_product)
),
moving AS (
    SELECT DISTINCT name_id, type_id, op_name_id, writes_result(symbol) AS has_result
    FROM chain.symbol
    WHERE moves_whole_tensors(symbol)
),
alone AS (
    SELECT op_id
    FROM module.kernel
    WHERE kind = 'compute'
    GROUP BY op_id
    HAVING count(*) = 1
),
summed_kernel AS (
    SELECT
        kernel.path_id,
        kernel.op_name_id,
        kernel.type_id,
        op_input.input_shapes_id,
        op_input.input_types_id,
        moving.has_result,
        count(*) AS kernel_count,
        sum(kernel.duration_ns)::BIGINT AS duration_ns,
        sum(critical.critical_ns)::BIGINT AS critical_ns
    FROM module.kernel
    JOIN alone USING (op_id)
    JOIN trace.op_input USING (op_id)
    JOIN critical.kernel AS critical ON critical.kernel_id = kernel.kernel_id
    JOIN moving
        ON moving.name_id = kernel.name_id
        AND moving.type_id IS NOT DISTINCT FROM kernel.type_id
        AND moving.op_name_id = kernel.op_name_id
    LEFT JOIN kernels.role ON role.name_id = kernel.name_id AND role.type_id IS NOT DISTINCT FROM kernel.type_id
    CROSS JOIN recorded_steps
    WHERE kernel.kind = 'compute'
      AND coalesce(role.role = 'type conversion', true)
      AND (NOT recorded_steps.has_rows OR kernel.kernel_id IN (SELECT kernel_id FROM kernels.step))
    GROUP BY ALL
),
sized_kernel AS (
    SELECT
        summed_kernel.*,
        kernel_count * (inputs.bytes + if(has_result, inputs.largest_bytes, 0)) AS bytes
    FROM summed_kernel
    JOIN roofline.tensors AS inputs
        ON inputs.shapes_id = summed_kernel.input_shapes_id AND inputs.types_id = summed_kernel.input_types_id
)
SELECT
    path.module_path AS module,
    sized_kernel.op_name_id,
    sized_kernel.type_id,
    sized_kernel.input_shapes_id,
    sized_kernel.input_types_id,
    sized_kernel.kernel_count,
    sized_kernel.duration_ns,
    sized_kernel.critical_ns,
    sized_kernel.bytes,
    sized_kernel.bytes / sized_kernel.duration_ns AS bandwidth_gb_s,
    memory.memory_gb_s,
    memory.product
FROM sized_kernel
CROSS JOIN memory
LEFT JOIN module.path USING (path_id)
WHERE sized_kernel.bytes > 0 AND sized_kernel.duration_ns > 0
ORDER BY
    sized_kernel.duration_ns DESC,
    sized_kernel.path_id,
    sized_kernel.op_name_id,
    sized_kernel.type_id,
    sized_kernel.input_shapes_id,
    sized_kernel.input_types_id
