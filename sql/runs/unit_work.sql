-- One row is a module path of a rank, or a place outside modules, and a value of the sample, with the work there that is
-- compared.
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
    sum(work.calls)::BIGINT AS calls,
    sum(work.host_ns)::BIGINT AS host_ns,
    sum(work.kernel_count)::BIGINT AS kernel_count,
    sum(work.duration_ns)::BIGINT AS duration_ns,
    sum(work.communication_ns)::BIGINT AS communication_ns
FROM rank
JOIN runs.compared_run AS size USING (run, side)
JOIN compare.module_unit AS work USING (profile)
LEFT JOIN runs.compared_unit AS unit
    ON unit.run = rank.run AND unit.side = rank.side AND unit.profile = rank.profile AND unit.unit_id = work.unit_id
WHERE work.unit_id IS NULL OR unit.unit_id IS NOT NULL
GROUP BY ALL
