SELECT
    event_id AS kernel_id,
    op_id,
    known_by::ENUM('capture', 'annotation') AS known_by,
    modules_by::ENUM('capture', 'annotation') AS modules_by
FROM raw.replayed_kernel
