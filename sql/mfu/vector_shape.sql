-- One row is a description in mfu.shape of kernels that multiply no matrices, although their cores could: counters of kernels
-- of their type and core show that the matrix unit does nothing. Where no counters were recorded, the name of the type decides,
-- on chips with one kind of core (910A), where everything runs on AI_CORE.
--
-- @guard mfu.unsure_shape
--
-- shape_id  BIGINT  a description of mfu.unsure_shape
WITH matrix_counter AS (
    SELECT text_id AS metric_id
    FROM trace.string
    -- Knows aic_, cube_fops, mac: counters are of one kind of hardware, and have names.
    WHERE regexp_matches(lower(text), '^(aic_)?(mac(_[a-z0-9]+)?_(ratio|time)|cube_fops)$')
),
used_counter AS (
    SELECT shape.type_id, shape.core_id, bool_or(metric.value > 0) AS multiplies
    FROM trace.kernel_metric AS metric
    JOIN matrix_counter USING (metric_id)
    JOIN mfu.cube_kernel USING (kernel_id)
    JOIN mfu.shape USING (shape_id)
    GROUP BY shape.type_id, shape.core_id
),
split_core AS (
    SELECT count(*) > 0 AS has_rows
    FROM trace.kernel
    WHERE engine IN ('vector', 'matrix and vector')
)
SELECT unsure_shape.shape_id
FROM mfu.unsure_shape
JOIN mfu.shape USING (shape_id)
CROSS JOIN split_core
LEFT JOIN used_counter
    ON used_counter.type_id IS NOT DISTINCT FROM shape.type_id AND used_counter.core_id IS NOT DISTINCT FROM shape.core_id
WHERE coalesce(NOT used_counter.multiplies, NOT unsure_shape.names_cube AND NOT split_core.has_rows, false)
