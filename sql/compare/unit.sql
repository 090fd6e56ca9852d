-- One row is a unit of the rank, over which figures of a comparison are means: a step, or a call of the root module. A profile
-- without steps has calls; a profile without modules too is a single unit. A step without kernels is no unit, unless no step
-- has kernels.
--
-- unit_id   BIGINT   the id; of a step its number
-- kind      VARCHAR  what it is: step, call or run (the whole profile)
-- step_id   BIGINT   the step, or that in which the call began; NULL outside steps and without steps
-- start_ns  BIGINT   start on the host, Unix ns; NULL when the profile does not say when the step ran
-- end_ns    BIGINT   end on the host, Unix ns; NULL when the profile does not say when the step ran, and for the last call
WITH with_kernels AS (
    SELECT DISTINCT unit_id
    FROM compare.kernel_of_unit
),
step AS (
    SELECT step.step_id, min(period.start_ns) AS start_ns, max(period.end_ns) AS end_ns
    FROM trace.step
    LEFT JOIN step.period USING (step_id)
    WHERE getvariable('per') <> 'call' AND (getvariable('step_id') IS NULL OR step.step_id = getvariable('step_id'))
    GROUP BY step.step_id
),
unit AS (
    SELECT step_id AS unit_id, 'step' AS kind, step_id, start_ns, end_ns
    FROM step
    UNION ALL
    SELECT unit_id, 'call', step_id, start_ns, end_ns
    FROM compare.root_call
    UNION ALL
    SELECT 0, 'run', NULL, NULL, NULL
    WHERE NOT EXISTS (FROM step) AND NOT EXISTS (FROM compare.root_call)
)
SELECT unit.*
FROM unit
LEFT JOIN with_kernels USING (unit_id)
WHERE with_kernels.unit_id IS NOT NULL OR NOT EXISTS (FROM with_kernels)
ORDER BY start_ns, unit_id
