-- One row is work that is compared, of a module path of a rank or of a place outside modules, in a unit. A path or place can
-- have several rows of a unit or a value of the sample: who reads them sums, and to do so here takes a second for a million
-- kernels.
--
-- run               VARCHAR  the run that is compared with the base
-- side              VARCHAR  base or new
-- profile           VARCHAR  the folder, the identity of the rank
-- path_id           BIGINT   a path of compare.module_node; NULL for work that counts outside modules
-- place             VARCHAR  where that is: a reason as in module.kernel, after `linked to no op: ` where no op launched the
--                            kernels, or outside every step (or call); NULL inside modules
-- sample_id         BIGINT   as in runs.compared_unit; NULL for work of no unit, unless figures are per run
-- calls             BIGINT   calls
-- host_ns           BIGINT   time of the host in them, without the modules inside, ns
-- kernel_count      BIGINT   kernels
-- duration_ns       BIGINT   their time, ns
-- communication_ns  BIGINT   that of communication operators among them, ns
WITH rank AS (
    SELECT run, side, profile, CASE WHEN getvariable('per') = 'run' THEN min(sample_id) END AS sample_id
    FROM runs.compared_unit
    GROUP BY run, side, profile
)
SELECT
    rank.run,
    rank.side,
    profile,
    CASE WHEN work.unit_id IS NOT NULL OR getvariable('per') = 'run' THEN work.path_id END AS path_id,
    CASE
        WHEN work.location = 'linked to no op' THEN work.location || ': ' || work.reason
        WHEN work.unit_id IS NULL AND getvariable('per') <> 'run' THEN 'outside every ' || size.unit_kind
        WHEN work.path_id IS NULL THEN work.reason
    END AS place,
    coalesce(unit.sample_id, rank.sample_id) AS sample_id,
    work.calls,
    work.host_ns,
    work.kernel_count,
    work.duration_ns,
    work.communication_ns
FROM rank
JOIN runs.compared_run AS size USING (run, side)
JOIN compare.module_unit AS work USING (profile)
LEFT JOIN runs.compared_unit AS unit
    ON unit.run = rank.run AND unit.side = rank.side AND unit.profile = rank.profile AND unit.unit_id = work.unit_id
WHERE work.unit_id IS NULL OR unit.unit_id IS NOT NULL
