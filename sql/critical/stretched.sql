-- One row is a compute kernel that takes twice as long as usual or more because of a kernel beside it: kernels of the same
-- type, shapes, data types and blocks take so much longer beside kernels of that type than elsewhere. Two elsewhere are needed.
--
-- @guard critical.beside
--
-- kernel_id     BIGINT  a kernel of critical.beside
-- neighbour_id  BIGINT  the kernel beside it, as in critical.beside
-- usual_ns      BIGINT  median time of equal kernels that are not beside kernels of that type, ns
WITH equal AS (
    SELECT type_id, input_shapes_id, input_types_id, block_num
    FROM trace.kernel
    JOIN critical.beside USING (kernel_id)
    WHERE beside.neighbour_id IS NOT NULL AND NOT beside.is_copy
      AND kernel.type_id IS NOT NULL AND kernel.input_shapes_id IS NOT NULL
    GROUP BY ALL
),
numbered_work AS (
    SELECT *, row_number() OVER (ORDER BY type_id, input_shapes_id, input_types_id, block_num) AS work_id
    FROM equal
),
kernel AS (
    SELECT
        numbered_work.work_id,
        kernel.kernel_id,
        kernel.end_ns - kernel.start_ns AS duration_ns,
        beside.neighbour_id,
        neighbour.type_id AS neighbour_type_id
    FROM numbered_work
    JOIN trace.kernel
        ON kernel.type_id = numbered_work.type_id
        AND kernel.input_shapes_id = numbered_work.input_shapes_id
        AND kernel.input_types_id IS NOT DISTINCT FROM numbered_work.input_types_id
        AND kernel.block_num IS NOT DISTINCT FROM numbered_work.block_num
    LEFT JOIN critical.beside ON beside.kernel_id = kernel.kernel_id
    LEFT JOIN trace.kernel AS neighbour ON neighbour.kernel_id = beside.neighbour_id
    WHERE kernel.kind = 'compute'
),
near AS (
    SELECT work_id, neighbour_type_id, quantile_disc(duration_ns, 0.5) AS median_ns
    FROM kernel
    WHERE neighbour_type_id IS NOT NULL
    GROUP BY work_id, neighbour_type_id
),
elsewhere AS (
    SELECT near.work_id, near.neighbour_type_id, quantile_disc(kernel.duration_ns, 0.5) AS usual_ns
    FROM near
    JOIN kernel ON kernel.work_id = near.work_id AND kernel.neighbour_type_id IS DISTINCT FROM near.neighbour_type_id
    GROUP BY near.work_id, near.neighbour_type_id, near.median_ns
    HAVING count(*) >= 2 AND near.median_ns >= 2 * usual_ns
)
SELECT kernel.kernel_id, kernel.neighbour_id, elsewhere.usual_ns
FROM kernel
JOIN elsewhere USING (work_id, neighbour_type_id)
WHERE kernel.duration_ns >= 2 * elsewhere.usual_ns
