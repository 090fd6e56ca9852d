-- One row is the best rate at which kernels of the rank moved data, of those that read and write whole tensors: elementwise ops
-- and matmuls. Without such kernels of a mebibyte or more there is no row.
--
-- bytes_per_us  BIGINT   bytes in a microsecond, in and out; data that lies in a cache counts as well, so it can exceed the
--                        rate of the memory
-- type_id       TEXT_ID  type of the kernel that reached it
-- bytes         BIGINT   bytes that it moved
-- duration_ns   BIGINT   its time, ns
WITH simple AS (
    SELECT type_id, bool_or(symbol IN ('M', 'B')) AS is_matmul
    FROM chain.symbol
    WHERE symbol IN ('x', 'd', 'a', 'b', 'p', 'c', 'n', 'w', 'g', 'u', 't', 'e', 'r', 'q', 'M', 'B')
    GROUP BY type_id
),
described_kernel AS (
    SELECT
        kernel.type_id,
        simple.is_matmul,
        kernel.input_shapes_id,
        kernel.input_types_id,
        kernel.output_shapes_id,
        kernel.output_types_id,
        min(kernel.duration_ns) AS duration_ns
    FROM trace.kernel
    JOIN simple USING (type_id)
    WHERE kernel.kind = 'compute' AND kernel.duration_ns > 0
    GROUP BY ALL
),
moved_bytes AS (
    SELECT described_kernel.type_id, described_kernel.duration_ns, inputs.bytes + outputs.bytes AS bytes
    FROM described_kernel
    JOIN roofline.tensors AS inputs
        ON inputs.shapes_id = described_kernel.input_shapes_id AND inputs.types_id = described_kernel.input_types_id
    JOIN roofline.tensors AS outputs
        ON outputs.shapes_id = described_kernel.output_shapes_id AND outputs.types_id = described_kernel.output_types_id
    WHERE inputs.element_count <= outputs.element_count OR described_kernel.is_matmul
)
SELECT bytes * 1000 // duration_ns AS bytes_per_us, type_id, bytes, duration_ns
FROM moved_bytes
WHERE bytes >= 1048576
ORDER BY bytes_per_us DESC, bytes DESC, type_id
LIMIT 1
