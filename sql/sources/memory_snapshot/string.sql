WITH native_text AS (
    SELECT unnest([op_of_native_frame(name), autograd_node_of_native_frame(name)]) AS text
    FROM raw.snapshot_frame
    WHERE NOT is_python_file(filename)
),
found_text AS (
    SELECT frame_of_snapshot(name, filename, line) AS text
    FROM raw.snapshot_frame
    UNION
    SELECT text
    FROM native_text
    UNION
    SELECT name
    FROM raw.snapshot_annotation
    UNION
    SELECT unnest([name, input_shapes, input_types])
    FROM raw.beside_op
    UNION
    SELECT unnest([domain, name, recorded_name])
    FROM raw.beside_range
    UNION
    SELECT unnest([name, class])
    FROM raw.beside_module_begin
)
SELECT text_id(text) AS text_id, text
FROM found_text
WHERE text IS NOT NULL
