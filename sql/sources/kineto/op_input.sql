SELECT
    event_id AS op_id,
    input_dims AS input_shapes_id,
    input_types AS input_types_id,
    input_values AS input_values_id
FROM raw.cpu_op
WHERE input_dims IS NOT NULL AND end_ns >= start_ns
