WITH node_with_range AS (
    SELECT DISTINCT pid, node_id
    FROM trace.captured_node
    WHERE is_range
)
SELECT
    kernel.kernel_id,
    kernel.op_id,
    'capture'::ENUM('capture', 'annotation') AS known_by,
    if(node_with_range.node_id IS NULL, NULL, 'capture')::ENUM('capture', 'annotation') AS modules_by
FROM trace.captured_kernel AS kernel
LEFT JOIN node_with_range ON node_with_range.pid = kernel.pid AND node_with_range.node_id = kernel.node_id
