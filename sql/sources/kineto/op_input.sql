SELECT
    event_id AS op_id,
    input_dims AS input_shapes_id,
    input_types AS input_types_id,
    input_values AS input_values_id
FROM raw.op_input
SEMI JOIN trace.op ON op.op_id = op_input.event_id
WHERE input_dims IS NOT NULL
UNION ALL
SELECT op_id, input_dims, input_types, input_values
FROM raw.replayed_op
WHERE input_dims IS NOT NULL
