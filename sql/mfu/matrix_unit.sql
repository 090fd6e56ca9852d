-- One row is a kernel whose type has no formula, and whose matrix unit worked, as hardware counters say.
--
-- @guard mfu.unsure_shape
--
-- kernel_id  BIGINT  a kernel of mfu.cube_kernel
-- mac_ratio  DOUBLE  part of the time of the cube cores in which the matrix unit worked, as recorded; above 0
WITH matrix_counter AS (
    SELECT text_id AS metric_id
    FROM trace.string
    -- Knows aic_: counters are of one kind of hardware, and have names.
    WHERE regexp_matches(lower(text), '^(aic_)?mac_ratio$')
)
SELECT metric.kernel_id, max(metric.value) AS mac_ratio
FROM trace.kernel_metric AS metric
JOIN matrix_counter USING (metric_id)
JOIN mfu.cube_kernel USING (kernel_id)
SEMI JOIN mfu.unsure_shape USING (shape_id)
WHERE isfinite(metric.value) AND metric.value > 0
GROUP BY metric.kernel_id
