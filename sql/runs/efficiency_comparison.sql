-- One row is a module with all inside it, forward or backward, or the whole run, and how well its kernels used the device in
-- the base and in the new run, over the whole recording. The modules whose MFU changed most come first, the whole run before
-- them.
--
-- parent_module          VARCHAR  as in runs.module_comparison; NULL for the whole run
-- module                 VARCHAR  as in runs.module_comparison; NULL for the whole run
-- base_mfu               DOUBLE   model FLOPs utilisation in the base, of a module its part of that of the run; NULL when not
--                                 known
-- new_mfu                DOUBLE   the same in the new run
-- mfu_difference         DOUBLE   new_mfu - base_mfu; NULL where one is not known
-- base_efficiency        DOUBLE   FLOPs / possible FLOPs of its matrix products while they ran, in the base; NULL when not
--                                 known
-- new_efficiency         DOUBLE   the same in the new run
-- efficiency_difference  DOUBLE   new_efficiency - base_efficiency; NULL where one is not known
-- base_bound             VARCHAR  what bounds most of its time in the base, as in pmu.by_level; NULL when not known
-- new_bound              VARCHAR  the same in the new run
-- base_reason            VARCHAR  why FLOPs of the base are not known, or not all, joined by '; '; NULL where all are
-- new_reason             VARCHAR  the same of the new run
-- match_id               BIGINT   the module of runs.module_match; NULL for the whole run
-- is_backward            BOOLEAN  true for the backward of a module; NULL for the whole run
-- run                    VARCHAR  the run that is compared with the base
WITH rank AS (
    SELECT run, side, profile
    FROM runs.compared_rank
    WHERE pair IS NOT NULL
),
place AS (
    SELECT path.run, path.side, path.profile, path.path_id, path.match_id, node.is_backward
    FROM runs.matched_path AS path
    JOIN compare.module_node AS node USING (profile, path_id)
),
used AS (
    SELECT place.run, side, match_id, is_backward, at_peak_ps, known_flops, possible_flops, reasons
    FROM mfu.by_level
    JOIN place USING (profile, path_id)
    WHERE level = 'module'
    UNION ALL
    SELECT compared.run, side, NULL, NULL, at_peak_ps, known_flops, possible_flops, reasons
    FROM mfu.rank
    JOIN rank AS compared USING (profile)
),
elapsed AS (
    SELECT compared.run, side, sum(elapsed_ns) AS elapsed_ns
    FROM mfu.rank
    JOIN rank AS compared USING (profile)
    GROUP BY compared.run, side
),
utilisation AS (
    SELECT
        used.run,
        used.side,
        used.match_id,
        used.is_backward,
        sum(used.at_peak_ps) / min(elapsed.elapsed_ns) / 1000 AS mfu,
        sum(used.known_flops) / nullif(sum(used.possible_flops), 0) AS efficiency,
        string_agg(DISTINCT used.reasons, '; ' ORDER BY used.reasons) AS reason
    FROM used
    JOIN elapsed ON elapsed.run = used.run AND elapsed.side = used.side
    GROUP BY used.run, used.side, used.match_id, used.is_backward
),
time_of_bounds AS (
    SELECT
        place.run,
        side,
        match_id,
        is_backward,
        unnest([
            {'bound': 'compute', 'duration_ns': sum(compute_ns)},
            {'bound': 'memory', 'duration_ns': sum(memory_ns)},
            {'bound': 'on chip', 'duration_ns': sum(on_chip_ns)},
            {'bound': 'scalar', 'duration_ns': sum(scalar_ns)},
            {'bound': 'wait', 'duration_ns': sum(wait_ns)}
        ]) AS part
    FROM pmu.by_level
    JOIN place USING (profile, path_id)
    WHERE level = 'module'
    GROUP BY place.run, side, match_id, is_backward
),
bound AS (
    SELECT
        run,
        side,
        match_id,
        is_backward,
        arg_min(part.bound, (-part.duration_ns, part.bound)) FILTER (part.duration_ns > 0) AS bound
    FROM time_of_bounds
    GROUP BY run, side, match_id, is_backward
),
compared_module AS (
    SELECT
        run,
        match_id,
        is_backward,
        max(mfu) FILTER (side = 'base') AS base_mfu,
        max(mfu) FILTER (side = 'new') AS new_mfu,
        max(efficiency) FILTER (side = 'base') AS base_efficiency,
        max(efficiency) FILTER (side = 'new') AS new_efficiency,
        max(bound.bound) FILTER (side = 'base') AS base_bound,
        max(bound.bound) FILTER (side = 'new') AS new_bound,
        max(utilisation.reason) FILTER (side = 'base') AS base_reason,
        max(utilisation.reason) FILTER (side = 'new') AS new_reason
    FROM utilisation
    FULL JOIN bound USING (run, side, match_id, is_backward)
    GROUP BY run, match_id, is_backward
)
SELECT
    named.parent_module,
    named.module,
    base_mfu,
    new_mfu,
    new_mfu - base_mfu AS mfu_difference,
    base_efficiency,
    new_efficiency,
    new_efficiency - base_efficiency AS efficiency_difference,
    base_bound,
    new_bound,
    base_reason,
    new_reason,
    compared_module.match_id,
    compared_module.is_backward,
    compared_module.run
FROM compared_module
LEFT JOIN runs.module_comparison AS named
    ON named.run = compared_module.run AND named.match_id = compared_module.match_id
    AND named.is_backward = compared_module.is_backward
WHERE coalesce(base_mfu, new_mfu, base_efficiency, new_efficiency) IS NOT NULL OR coalesce(base_bound, new_bound) IS NOT NULL
ORDER BY
    compared_module.run,
    compared_module.match_id IS NOT NULL,
    abs(mfu_difference) DESC NULLS LAST,
    compared_module.match_id,
    compared_module.is_backward
