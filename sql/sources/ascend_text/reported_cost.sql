SELECT
    name AS name_id,
    input_shapes AS input_shapes_id,
    host_self_ns,
    host_total_ns,
    device_self_ns,
    device_total_ns
FROM raw.operator_detail
WHERE NOT EXISTS (FROM raw.cpu_op)
