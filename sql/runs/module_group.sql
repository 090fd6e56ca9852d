-- One row is modules of equal classes at equal places in the tree that changed in the same way, such as the same layer in all
-- blocks, with their own kernel time in the base and in the new run, those that changed most first. A module that one run alone
-- has is a row with all modules inside it, forward and backward.
--
-- run                 VARCHAR  the run that is compared with the base
-- modules             VARCHAR  their path, where numbers of siblings are ranges: Model/Layer[0-31]/Linear; a number is left out
--                              where no module has a sibling of its class
-- rule                VARCHAR  by which rule of runs.module_comparison they match
-- verdict             VARCHAR  slower (or only in the new run), faster (or only in the base), noise, same, or changed where it
--                              is not known whether the difference is noise
-- module_count        BIGINT   modules
-- base_self_ns        DOUBLE   their own kernel time in the base per unit, ns
-- new_self_ns         DOUBLE   their own kernel time in the new run per unit, ns
-- self_difference_ns  DOUBLE   new_self_ns - base_self_ns
-- self_ratio          DOUBLE   new_self_ns / base_self_ns; NULL when that is 0
-- difference_share    DOUBLE   part of the difference of all kernel time; NULL when that is 0
-- base_sum_ns         BIGINT   own kernel time in all units of the base, ns
-- new_sum_ns          BIGINT   own kernel time in all units of the new run, ns
WITH module AS (
    SELECT
        compared.run,
        place.classes,
        place.numbers,
        compared.is_backward AND NOT starts_with(compared.rule, 'only') AS is_backward,
        compared.rule,
        compared.base_self_sum_ns AS base_sum_ns,
        compared.new_self_sum_ns AS new_sum_ns,
        CASE
            WHEN compared.rule = 'only new' THEN 'slower'
            WHEN compared.rule = 'only base' THEN 'faster'
            WHEN compared.self_difference_ns = 0 THEN 'same'
            WHEN compared.is_noise THEN 'noise'
            WHEN compared.is_noise IS NULL THEN 'changed'
            WHEN compared.self_difference_ns > 0 THEN 'slower'
            ELSE 'faster'
        END AS verdict,
        -- Where noise is not known, one that changed far more than most of its kind must not vanish among them.
        verdict = 'changed'
            AND abs(compared.self_difference_ns) > 4 * quantile_disc(abs(compared.self_difference_ns), 0.5) OVER (
                PARTITION BY compared.run, place.classes, compared.is_backward, compared.rule
            ) AS is_far
    FROM runs.module_comparison AS compared
    JOIN runs.module_place AS place USING (run, match_id)
),
group_of_modules AS (
    SELECT
        run,
        folded_path(classes, list(numbers), is_backward) AS modules,
        rule,
        verdict,
        count(DISTINCT numbers) AS module_count,
        sum(base_sum_ns)::BIGINT AS base_sum_ns,
        sum(new_sum_ns)::BIGINT AS new_sum_ns
    FROM module
    GROUP BY run, classes, is_backward, rule, verdict, is_far
)
SELECT
    run,
    group_of_modules.modules,
    group_of_modules.rule,
    group_of_modules.verdict,
    group_of_modules.module_count,
    group_of_modules.base_sum_ns / comparison.base_unit_count AS base_self_ns,
    group_of_modules.new_sum_ns / comparison.new_unit_count AS new_self_ns,
    new_self_ns - base_self_ns AS self_difference_ns,
    new_self_ns / nullif(base_self_ns, 0) AS self_ratio,
    (new_self_ns - base_self_ns) / nullif(comparison.difference_ns, 0) AS difference_share,
    group_of_modules.base_sum_ns,
    group_of_modules.new_sum_ns
FROM group_of_modules
JOIN runs.comparison USING (run)
ORDER BY run, abs(new_self_ns - base_self_ns) DESC, group_of_modules.modules, group_of_modules.rule, group_of_modules.verdict
