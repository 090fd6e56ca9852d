SELECT
    stack.stack AS stack_id,
    stack.depth,
    text_id(frame_of_snapshot(frame.name, frame.filename, frame.line)) AS frame_id,
    is_python_file(frame.filename) AS is_python,
    NOT is_python_file(frame.filename) AND is_frame_of_allocator(frame.name) AS is_allocator
FROM raw.snapshot_stack AS stack
JOIN raw.snapshot_frame AS frame ON frame.number = stack.frame
