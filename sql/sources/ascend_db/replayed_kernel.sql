WITH replayed AS (
    FROM raw.replayed_kernel
),
kernel AS (
    FROM trace.kernel
)
SELECT
    kernel_id,
    op_id,
    known_by::ENUM('capture', 'annotation') AS known_by,
    modules_by::ENUM('capture', 'annotation') AS modules_by
FROM kernels_of_replays(replayed, kernel)
