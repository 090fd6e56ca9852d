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
)
SELECT text_id(text) AS text_id, text
FROM found_text
WHERE text IS NOT NULL
