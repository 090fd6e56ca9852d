-- One row is a kernel and the unit that it belongs to.
--
-- kernel_id  BIGINT  a kernel of trace.kernel; those of no unit have no row
-- unit_id    BIGINT  a unit of compare.unit
WITH step AS (
    SELECT DISTINCT step_id
    FROM trace.step
    WHERE getvariable('per') <> 'call' AND (getvariable('step_id') IS NULL OR step_id = getvariable('step_id'))
)
SELECT kernel_id, step_id AS unit_id
FROM kernels.step
SEMI JOIN step USING (step_id)
UNION ALL
SELECT kernel_id, unit_id
FROM compare.kernel_of_call
UNION ALL
SELECT kernel_id, 0 AS unit_id
FROM trace.kernel
WHERE NOT EXISTS (FROM step) AND NOT EXISTS (FROM compare.root_call)
