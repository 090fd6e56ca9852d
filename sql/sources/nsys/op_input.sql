SELECT op_id, input_shapes_id, NULL::BIGINT AS input_types_id, NULL::BIGINT AS input_values_id
FROM trace.op
WHERE input_shapes_id IS NOT NULL
