-- One row is a run that is compared with the base: the largest change, and how sure it is.
--
-- run                   VARCHAR  the run that is compared with the base
-- sentence              VARCHAR  the finding in words
-- figure                VARCHAR  the figure of runs.comparison_summary that it is about: step time; kernel time where no step
--                                time is known in both runs, and for calls, of which there may be several in a step
-- base_ns               DOUBLE   this figure in the base per unit, ns
-- new_ns                DOUBLE   this figure in the new run per unit, ns
-- difference_ns         DOUBLE   new_ns - base_ns
-- ratio                 DOUBLE   new_ns / base_ns; NULL when that is 0
-- p_value               DOUBLE   probability of a difference at least as large where nothing changed; NULL when not known
-- is_noise              BOOLEAN  whether the difference is no more than the figure varies anyway; NULL when not known
-- reason                VARCHAR  why that is not known; NULL when it is
-- part                  VARCHAR  the part of the step that changed most in the same direction: computing, exposed
--                                communication, exposed copying or idle; NULL where none did, or only noise changed
-- part_difference_ns    DOUBLE   its difference per unit, ns; NULL without a part
-- modules               VARCHAR  the modules of runs.module_group that changed most in the same direction by more than noise,
--                                or by the most where noise is not known; NULL where none did
-- module_count          BIGINT   these modules; NULL without any
-- module_difference_ns  DOUBLE   the difference of their own kernel time per unit, ns; NULL without any
-- cause                 VARCHAR  where idle is the part, the cause of idle time that changed most in the same direction; else
--                                NULL
-- cause_difference_ns   DOUBLE   its difference per unit, ns; NULL without a cause
WITH whole AS (
    SELECT
        run,
        figure,
        base AS base_ns,
        new AS new_ns,
        difference AS difference_ns,
        ratio,
        p_value,
        is_noise,
        reason
    FROM runs.comparison_summary
    JOIN runs.comparison USING (run)
    WHERE figure IN (if(base_unit_kind = 'call', NULL, 'step time'), 'kernel time') AND difference IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY run ORDER BY figure DESC) = 1
),
part AS (
    SELECT whole.run, summary.figure AS part, summary.difference AS part_difference_ns
    FROM whole
    JOIN runs.comparison_summary AS summary USING (run)
    WHERE whole.figure = 'step time'
        AND summary.figure IN ('computing', 'exposed communication', 'exposed copying', 'idle')
        AND whole.is_noise IS NOT TRUE
        AND sign(summary.difference) = sign(whole.difference_ns) AND summary.difference <> 0
    QUALIFY row_number() OVER (PARTITION BY whole.run ORDER BY abs(summary.difference) DESC, summary.figure) = 1
),
changed_run AS (
    SELECT whole.run, groups.modules, groups.module_count, groups.self_difference_ns AS module_difference_ns, groups.rule
    FROM whole
    JOIN runs.module_group AS groups USING (run)
    WHERE groups.verdict IN ('slower', 'faster', 'changed')
        AND (whole.is_noise OR sign(groups.self_difference_ns) = sign(whole.difference_ns))
    QUALIFY row_number() OVER (
        PARTITION BY whole.run
        ORDER BY groups.verdict = 'changed', abs(groups.self_difference_ns) DESC, groups.modules, groups.rule
    ) = 1
),
cause AS (
    SELECT part.run, idle.cause, idle.difference_ns AS cause_difference_ns
    FROM part
    JOIN runs.idle_comparison AS idle USING (run)
    WHERE part.part = 'idle' AND sign(idle.difference_ns) = sign(part.part_difference_ns)
    QUALIFY row_number() OVER (PARTITION BY part.run ORDER BY abs(idle.difference_ns) DESC, idle.cause) = 1
),
finding AS (
    SELECT
        whole.*,
        if(whole.figure = 'kernel time', ' of kernel time', '') AS of_kernels,
        part.part,
        part.part_difference_ns,
        changed_run.modules,
        changed_run.module_count,
        changed_run.module_difference_ns,
        changed_run.rule,
        cause.cause,
        cause.cause_difference_ns,
        comparison.base_unit_kind,
        comparison.sample_kind,
        least(comparison.base_sample_count, comparison.new_sample_count) AS least_samples,
        comparison.noise_reason,
        device.is_different,
        device.base_device,
        device.new_device
    FROM whole
    JOIN runs.comparison USING (run)
    LEFT JOIN runs.compared_device AS device USING (run)
    LEFT JOIN part USING (run)
    LEFT JOIN changed_run USING (run)
    LEFT JOIN cause USING (run)
)
SELECT
    run,
    CASE
        WHEN difference_ns = 0 AND modules IS NULL
            THEN format('nothing changed: a {} takes {}{} in both', base_unit_kind, shown_time(base_ns), of_kernels)
        ELSE concat(
            if(is_different, format('on another device ({}; the base on {}), ', new_device, base_device), ''),
            format('a {} takes {}{}', base_unit_kind, shown_time(new_ns), of_kernels),
            format(', {} in the base', shown_time(base_ns)),
            coalesce(format(' ({:+.1f} %): ', 100 * (ratio - 1)), ': '),
            CASE
                -- So few values cannot prove a difference that is far larger than they vary.
                WHEN is_noise AND least_samples < 5 AND p_value < 0.5
                    THEN format('may be chance, with so few {}s (p = {:.4f})', sample_kind, p_value)
                WHEN is_noise THEN format('no more than {}s vary', sample_kind)
                WHEN is_noise IS NULL THEN format('not known whether that is noise ({})', reason)
                WHEN p_value < 0.0001 THEN format('more than {}s vary (p < 0.0001)', sample_kind)
                ELSE format('more than {}s vary (p = {:.4f})', sample_kind, p_value)
            END,
            format('; most in {} ({})', part, signed_time(part_difference_ns)),
            format(', by the cause {} ({})', cause, signed_time(cause_difference_ns)),
            if(module_count = 1, '; the module that changed most: ', '; the modules that changed most: ') || modules,
            if(starts_with(rule, 'only'), if(rule = 'only new', ', only in the new run', ', only in the base'), ''),
            format(' ({}', signed_time(module_difference_ns)),
            CASE WHEN module_count > 1 THEN format(' in {} modules', module_count) END,
            if(modules IS NULL, '', ')')
        )
    END AS sentence,
    figure,
    base_ns,
    new_ns,
    difference_ns,
    ratio,
    p_value,
    is_noise,
    if(is_noise IS NULL, reason, NULL) AS reason,
    part,
    part_difference_ns,
    modules,
    module_count,
    module_difference_ns,
    cause,
    cause_difference_ns
FROM finding
ORDER BY run
