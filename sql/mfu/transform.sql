-- One row is the shapes and formats of kernels that transform the layout of a tensor.
--
-- @columns input_shapes_id, input_formats_id, output_shapes_id, output_formats_id as in trace.kernel
SELECT DISTINCT kernel.input_shapes_id, kernel.input_formats_id, kernel.output_shapes_id, kernel.output_formats_id
FROM trace.kernel
JOIN trace.string AS type ON type.text_id = kernel.type_id
-- Knows transdata: padded layouts are of one kind of hardware.
WHERE kernel.kind = 'compute' AND starts_with(type.text, 'TransData')
