-- One row is a compute kernel and the bytes that it reads and writes, where the recording says them.
--
-- kernel_id  BIGINT  a kernel of kernels.selected
-- bytes      BIGINT  bytes of what it reads and writes, each tensor once
--
-- A kernel with shapes of its own moves all of its inputs and outputs, if its type does not read a part of them. Elsewhere the
-- op has the inputs, and counts where it launched one kernel: a product of two matrices writes as many elements as its FLOPs
-- make, an attention as many as the query has, an op element by element as many as its largest input, as in roofline.memory.
-- What lies in a cache counts as well. Attention of a server reads the keys of its requests, as in mfu.served_attention.
WITH kernel AS (
    SELECT
        device.kernel_id,
        kernel.op_id,
        device.name_id,
        device.type_id,
        kernel.op_name_id,
        device.input_shapes_id,
        device.input_types_id,
        device.output_shapes_id,
        device.output_types_id
    FROM kernels.selected
    JOIN trace.kernel AS device USING (kernel_id)
    JOIN module.kernel USING (kernel_id)
    WHERE selected.kind = 'compute' AND device.duration_ns > 0
),
with_shapes AS (
    SELECT kernel.kernel_id, inputs.bytes + outputs.bytes AS bytes
    FROM kernel
    JOIN kernels.category
        ON category.kind = 'compute'
        AND category.name_id IS NOT DISTINCT FROM kernel.name_id
        AND category.type_id IS NOT DISTINCT FROM kernel.type_id
        AND category.op_name_id IS NOT DISTINCT FROM kernel.op_name_id
    JOIN roofline.tensors AS inputs
        ON inputs.shapes_id = kernel.input_shapes_id AND inputs.types_id = kernel.input_types_id
    JOIN roofline.tensors AS outputs
        ON outputs.shapes_id = kernel.output_shapes_id AND outputs.types_id = kernel.output_types_id
    WHERE category.is_whole
),
alone AS (
    SELECT op_id
    FROM kernel
    WHERE op_id IS NOT NULL
    GROUP BY op_id
    HAVING count(*) = 1 AND count(input_shapes_id) = 0
),
moving AS (
    SELECT DISTINCT name_id, type_id, op_name_id, writes_result(symbol) AS has_result
    FROM chain.symbol
    WHERE moves_whole_tensors(symbol)
),
of_elements AS (
    SELECT kernel.kernel_id, inputs.bytes + if(moving.has_result, inputs.largest_bytes, 0) AS bytes
    FROM kernel
    JOIN alone USING (op_id)
    JOIN trace.op_input USING (op_id)
    JOIN moving
        ON moving.name_id = kernel.name_id
        AND moving.type_id IS NOT DISTINCT FROM kernel.type_id
        AND moving.op_name_id = kernel.op_name_id
    JOIN roofline.tensors AS inputs
        ON inputs.shapes_id = op_input.input_shapes_id AND inputs.types_id = op_input.input_types_id
),
described_product AS (
    SELECT
        judged.kernel_id,
        judged.flops,
        op_form.form,
        inputs.bytes AS input_bytes,
        dims_or_none_of(string_split(tensor_list(shapes.text), ';')[op_form.first_at]) AS dims,
        bytes_of_element(string_split(types.text, ';')[op_form.first_at]) AS element_bytes
    FROM mfu.judged
    JOIN kernel USING (kernel_id)
    JOIN alone USING (op_id)
    JOIN mfu.op_kernel USING (kernel_id)
    JOIN mfu.op_form ON op_form.name_id = op_kernel.name_id
    JOIN trace.string AS shapes ON shapes.text_id = op_kernel.input_shapes_id
    JOIN trace.string AS types ON types.text_id = op_kernel.input_types_id
    JOIN roofline.tensors AS inputs
        ON inputs.shapes_id = op_kernel.input_shapes_id AND inputs.types_id = op_kernel.input_types_id
    WHERE judged.flops > 0 AND op_kernel.until_ns = op_kernel.all_ns AND op_form.form IN ('product', 'linear', 'attention')
),
-- Products of numbers of one byte are written with more.
of_product AS (
    SELECT
        kernel_id,
        input_bytes + element_bytes * if(form = 'attention', count_of(dims), flops // nullif(2 * dims[-1], 0)) AS bytes
    FROM described_product
    WHERE element_bytes > 1
),
found AS (
    SELECT served_attention.kernel_id, served_attention.bytes, 0 AS place
    FROM mfu.served_attention
    JOIN kernel USING (kernel_id)
    UNION ALL
    SELECT kernel_id, bytes, 1
    FROM with_shapes
    UNION ALL
    SELECT kernel_id, bytes, 2
    FROM of_product
    UNION ALL
    SELECT kernel_id, bytes, 3
    FROM of_elements
)
SELECT kernel_id, arg_min(bytes, place) AS bytes
FROM found
WHERE bytes > 0
GROUP BY kernel_id
