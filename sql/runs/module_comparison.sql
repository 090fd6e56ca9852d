-- One row is a module, forward or backward, with its time in base and new run: of kernels that ops directly in it launched
-- (self), and with all modules inside it (total). Kernels outside modules have rows by the reason. All self differences add up
-- to the difference of all kernel time, exactly: base_self_sum_ns and new_self_sum_ns are whole numbers. The largest change
-- comes first.
--
-- @sum base_self_ns, new_self_ns, self_difference_ns, base_kernels, new_kernels, base_self_sum_ns, new_self_sum_ns
--
-- parent_module          VARCHAR  names of the enclosing modules in the base joined by '/', numbered among equal siblings; in
--                                 the new run where only that has it; '' for an outermost module; NULL outside modules
-- module                 VARCHAR  the last name, with [Backward] before it for the backward; outside modules where, and why
-- rule                   VARCHAR  how the two are one module, as in runs.module_match; NULL outside modules
-- base_calls             DOUBLE   calls in the base per unit (a step, a call of the outermost module or a run, as unit says)
-- new_calls              DOUBLE   calls in the new run per unit
-- base_self_ns           DOUBLE   kernel time directly in it per unit in the base, ns; 0 where the base does not have it
-- new_self_ns            DOUBLE   the same in the new run, ns
-- self_difference_ns     DOUBLE   new_self_ns - base_self_ns
-- base_total_ns          DOUBLE   kernel time with all modules inside per unit in the base, ns
-- new_total_ns           DOUBLE   the same in the new run, ns
-- total_difference_ns    DOUBLE   new_total_ns - base_total_ns
-- total_ratio            DOUBLE   new_total_ns / base_total_ns; NULL when that is 0
-- difference_share       DOUBLE   self_difference_ns / difference of all kernel time per unit; NULL when that is 0
-- base_sd_ns             DOUBLE   standard deviation of the self time over the sample of the base, ns; NULL for fewer than two
--                                 values
-- new_sd_ns              DOUBLE   the same of the new run, ns
-- is_noise               BOOLEAN  whether the self difference may be chance: of all modules called changed, at most 5 % are
--                                 expected to be; NULL when not known
-- reason                 VARCHAR  why it is not known; NULL where it is
-- p_value                DOUBLE   probability of a self difference at least as large by chance (Welch's t-test); NULL when not
--                                 known
-- difference_margin_ns   DOUBLE   the self difference lies within so many ns with a probability of 95 %; NULL when not known
-- base_kernels           DOUBLE   kernels directly in it per unit in the base
-- new_kernels            DOUBLE   the same in the new run
-- base_host_ns           DOUBLE   time of the host in its calls per unit in the base, modules inside included, ns; NULL outside
--                                 modules
-- new_host_ns            DOUBLE   the same in the new run, ns; NULL outside modules
-- base_communication_ns  DOUBLE   time of communication operators per unit in the base, modules inside included, ns
-- new_communication_ns   DOUBLE   the same in the new run, ns
-- new_path               VARCHAR  all its names in the new run joined by '/'; NULL where only the base has it
-- base_self_sum_ns       BIGINT   self time of all units of the base, ns
-- new_self_sum_ns        BIGINT   the same of the new run, ns
-- base_total_sum_ns      BIGINT   total time of all units of the base, ns
-- new_total_sum_ns       BIGINT   the same of the new run, ns
-- base_units             BIGINT   units of the base, by which its sums are divided
-- new_units              BIGINT   units of the new run
-- unit                   VARCHAR  the unit of the means: step, call or run
-- match_id               BIGINT   the module of runs.module_match; NULL outside modules
-- is_backward            BOOLEAN  true for the backward of a module
-- run                    VARCHAR  the run that is compared with the base
WITH sample AS (
    SELECT run, side, sample_id, if(getvariable('per') = 'run', 1, count(*)) AS unit_count
    FROM runs.compared_unit
    WHERE sample_id IS NOT NULL
    GROUP BY run, side, sample_id
),
work AS (
    SELECT work.*, path.match_id, node.is_backward
    FROM runs.unit_work AS work
    LEFT JOIN runs.matched_path AS path
        ON path.run = work.run AND path.side = work.side AND path.profile = work.profile AND path.path_id = work.path_id
    LEFT JOIN compare.module_node AS node ON node.profile = work.profile AND node.path_id = work.path_id
),
own_of_sample AS (
    SELECT
        run,
        side,
        match_id,
        is_backward,
        place,
        sample_id,
        sum(calls) AS calls,
        sum(kernel_count) AS kernel_count,
        sum(duration_ns) AS duration_ns,
        sum(communication_ns) AS communication_ns
    FROM work
    GROUP BY run, side, match_id, is_backward, place, sample_id
),
own AS (
    SELECT
        run,
        side,
        match_id,
        is_backward,
        place,
        sum(calls) AS calls,
        sum(kernel_count) AS kernel_count,
        sum(duration_ns) AS duration_ns,
        sum(communication_ns) AS communication_ns,
        count(unit_count) AS value_count,
        coalesce(sum(duration_ns // unit_count), 0) AS total,
        coalesce(sum((duration_ns // unit_count)::HUGEINT * (duration_ns // unit_count)), 0) AS squares
    FROM own_of_sample
    LEFT JOIN sample USING (run, side, sample_id)
    GROUP BY run, side, match_id, is_backward, place
),
of_path AS (
    SELECT
        run,
        side,
        profile,
        path_id,
        sum(host_ns) AS host_ns,
        sum(duration_ns) AS duration_ns,
        sum(communication_ns) AS communication_ns
    FROM work
    WHERE path_id IS NOT NULL
    GROUP BY run, side, profile, path_id
),
inside AS (
    SELECT
        path.run,
        path.side,
        path.match_id,
        node.is_backward,
        sum(of_path.host_ns) AS host_ns,
        sum(of_path.duration_ns) AS duration_ns,
        sum(of_path.communication_ns) AS communication_ns
    FROM of_path
    JOIN module.enclosing_path AS around ON around.profile = of_path.profile AND around.path_id = of_path.path_id
    JOIN runs.matched_path AS path
        ON path.run = of_path.run AND path.side = of_path.side AND path.profile = of_path.profile
            AND path.path_id = around.enclosing_id
    JOIN compare.module_node AS node ON node.profile = of_path.profile AND node.path_id = around.enclosing_id
    GROUP BY path.run, path.side, path.match_id, node.is_backward
),
figure AS (
    SELECT
        run,
        side,
        match_id,
        is_backward,
        place,
        coalesce(own.calls, 0) AS calls,
        coalesce(own.kernel_count, 0) AS kernel_count,
        coalesce(own.duration_ns, 0) AS self_ns,
        coalesce(inside.duration_ns, own.duration_ns) AS total_ns,
        inside.host_ns,
        coalesce(inside.communication_ns, own.communication_ns) AS communication_ns,
        place IS NOT NULL AND own.value_count = 0 AS has_no_values,
        coalesce(own.total, 0) AS total,
        coalesce(own.squares, 0) AS squares
    FROM own
    FULL JOIN inside USING (run, side, match_id, is_backward)
),
size AS (
    SELECT
        run,
        min(unit_kind) AS unit,
        max(unit_count) FILTER (side = 'base') AS base_units,
        max(unit_count) FILTER (side = 'new') AS new_units,
        max(sample_count) FILTER (side = 'base') AS base_n,
        max(sample_count) FILTER (side = 'new') AS new_n,
        min(reason) AS reason
    FROM runs.compared_run
    GROUP BY run
),
side_by_side AS (
    SELECT
        run,
        match_id,
        is_backward,
        place,
        coalesce(max(calls) FILTER (side = 'base'), 0) AS base_calls,
        coalesce(max(calls) FILTER (side = 'new'), 0) AS new_calls,
        coalesce(max(kernel_count) FILTER (side = 'base'), 0) AS base_kernels,
        coalesce(max(kernel_count) FILTER (side = 'new'), 0) AS new_kernels,
        coalesce(max(self_ns) FILTER (side = 'base'), 0) AS base_sum_ns,
        coalesce(max(self_ns) FILTER (side = 'new'), 0) AS new_sum_ns,
        coalesce(max(total_ns) FILTER (side = 'base'), 0) AS base_total_ns,
        coalesce(max(total_ns) FILTER (side = 'new'), 0) AS new_total_ns,
        if(match_id IS NULL, NULL, coalesce(max(host_ns) FILTER (side = 'base'), 0)) AS base_host_ns,
        if(match_id IS NULL, NULL, coalesce(max(host_ns) FILTER (side = 'new'), 0)) AS new_host_ns,
        coalesce(max(communication_ns) FILTER (side = 'base'), 0) AS base_communication_ns,
        coalesce(max(communication_ns) FILTER (side = 'new'), 0) AS new_communication_ns,
        bool_or(has_no_values) AS has_no_values,
        coalesce(max(total) FILTER (side = 'base'), 0) AS base_total,
        coalesce(max(squares) FILTER (side = 'base'), 0) AS base_squares,
        coalesce(max(total) FILTER (side = 'new'), 0) AS new_total,
        coalesce(max(squares) FILTER (side = 'new'), 0) AS new_squares
    FROM figure
    GROUP BY run, match_id, is_backward, place
),
module_per_unit AS (
    SELECT
        side_by_side.*,
        size.* EXCLUDE (run, reason),
        coalesce(size.reason, if(has_no_values, 'its kernels belong to no ' || size.unit, NULL)) AS reason,
        CASE WHEN NOT has_no_values THEN sample_sd(base_total, base_squares, base_n) END AS base_sd_ns,
        CASE WHEN NOT has_no_values THEN sample_sd(new_total, new_squares, new_n) END AS new_sd_ns,
        CASE WHEN NOT has_no_values THEN welch_p(base_total, base_squares, base_n, new_total, new_squares, new_n) END
            AS p_value,
        CASE WHEN NOT has_no_values THEN welch_margin(base_total, base_squares, base_n, new_total, new_squares, new_n) END
            AS difference_margin_ns
    FROM side_by_side
    JOIN size USING (run)
),
whole AS (
    SELECT
        run,
        max(sum_ns / unit_count) FILTER (side = 'new') - max(sum_ns / unit_count) FILTER (side = 'base') AS difference_ns
    FROM runs.comparison_total
    GROUP BY run
)
SELECT
    match.parent_module,
    coalesce(if(module.is_backward, '[Backward]', '') || match.module, module.place) AS module,
    match.rule,
    module.base_calls / module.base_units AS base_calls,
    module.new_calls / module.new_units AS new_calls,
    module.base_sum_ns / module.base_units AS base_self_ns,
    module.new_sum_ns / module.new_units AS new_self_ns,
    module.new_sum_ns / module.new_units - module.base_sum_ns / module.base_units AS self_difference_ns,
    module.base_total_ns / module.base_units AS base_total_ns,
    module.new_total_ns / module.new_units AS new_total_ns,
    module.new_total_ns / module.new_units - module.base_total_ns / module.base_units AS total_difference_ns,
    (module.new_total_ns / module.new_units) / nullif(module.base_total_ns / module.base_units, 0) AS total_ratio,
    (module.new_sum_ns / module.new_units - module.base_sum_ns / module.base_units) / nullif(whole.difference_ns, 0)
        AS difference_share,
    module.base_sd_ns,
    module.new_sd_ns,
    module.is_noise,
    module.reason,
    module.p_value,
    module.difference_margin_ns,
    module.base_kernels / module.base_units AS base_kernels,
    module.new_kernels / module.new_units AS new_kernels,
    module.base_host_ns / module.base_units AS base_host_ns,
    module.new_host_ns / module.new_units AS new_host_ns,
    module.base_communication_ns / module.base_units AS base_communication_ns,
    module.new_communication_ns / module.new_units AS new_communication_ns,
    match.new_path,
    module.base_sum_ns::BIGINT AS base_self_sum_ns,
    module.new_sum_ns::BIGINT AS new_self_sum_ns,
    module.base_total_ns::BIGINT AS base_total_sum_ns,
    module.new_total_ns::BIGINT AS new_total_sum_ns,
    module.base_units,
    module.new_units,
    module.unit,
    module.match_id,
    module.is_backward,
    module.run
-- What has no time of its own on either side cannot have changed.
FROM with_noise(module_per_unit, base_sum_ns + new_sum_ns > 0) AS module
JOIN whole USING (run)
LEFT JOIN runs.module_match AS match ON match.match_id = module.match_id
ORDER BY
    module.run,
    abs(self_difference_ns) DESC,
    abs(total_difference_ns) DESC,
    module.match_id,
    module.is_backward,
    module
