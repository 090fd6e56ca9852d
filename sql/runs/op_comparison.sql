-- One row is an op with its input shapes, directly in a module, with its kernels in the base and in the new run, those that
-- changed most first. Kernels outside modules and those that no op launched have rows of their own; so the sums of all rows of
-- a module are its own kernel time, and those of all rows the time of all kernels.
--
-- @sum base_ns, new_ns, difference_ns, base_sum_ns, new_sum_ns, base_kernel_count, new_kernel_count
--
-- run                VARCHAR  the run that is compared with the base
-- parent_module      VARCHAR  names of the enclosing modules joined by '/', as in runs.module_comparison; NULL outside modules
-- module             VARCHAR  class name of the module, with [Backward] before it in the backward; NULL outside modules
-- location           VARCHAR  'inside modules', or why the kernels are not, as in runs.compared_op_rank
-- op_name            VARCHAR  the op; NULL when linked to no op
-- change             VARCHAR  what changed: added, removed, other shapes, other kernels, more often, less often, slower,
--                             faster; noise: only the time changed, and within its usual variation; NULL where nothing
--                             changed
-- base_input_shapes  VARCHAR  input shapes in the base; NULL where only one of the runs has any
-- new_input_shapes   VARCHAR  input shapes in the new run, likewise
-- base_kernel_types  VARCHAR  types of its kernels in the base, joined by ', '; those that are not known are left out; NULL
--                             when none is known
-- new_kernel_types   VARCHAR  types of its kernels in the new run, likewise
-- base_kernel_count  DOUBLE   kernels in the base per unit
-- new_kernel_count   DOUBLE   kernels in the new run per unit
-- base_ns            DOUBLE   their time in the base per unit, ns
-- new_ns             DOUBLE   their time in the new run per unit, ns
-- difference_ns      DOUBLE   new_ns - base_ns
-- ratio              DOUBLE   new_ns / base_ns; NULL when that is 0
-- difference_share   DOUBLE   part of the difference of all kernel time; NULL when that is 0
-- base_sd_ns         DOUBLE   standard deviation over the samples of the base, ns; NULL with fewer than two
-- new_sd_ns          DOUBLE   standard deviation over the samples of the new run, ns; NULL with fewer than two
-- p_value            DOUBLE   probability of a difference at least as large where nothing changed; NULL when not known
-- is_noise           BOOLEAN  whether the difference is no more than the time varies anyway; NULL when not known
-- reason             VARCHAR  why that is not known; NULL when it is
-- base_sum_ns        BIGINT   time in all units of the base, ns
-- new_sum_ns         BIGINT   time in all units of the new run, ns
-- base_kernel_sum    BIGINT   kernels in all units of the base
-- new_kernel_sum     BIGINT   kernels in all units of the new run
-- match_id           BIGINT   the module of runs.module_match; NULL outside modules
-- is_backward        BOOLEAN  whether it is the backward of the module; NULL outside modules
WITH variant AS (
    SELECT
        run,
        side,
        match_id,
        is_backward,
        location,
        op_name,
        input_shapes,
        list(op_number) AS op_numbers,
        min(first_start_ns) AS first_start_ns,
        string_agg(DISTINCT type, ', ' ORDER BY type) AS kernel_types,
        bool_and(type IS NOT NULL) AS has_types
    FROM runs.compared_op
    GROUP BY run, side, match_id, is_backward, location, op_name, input_shapes
),
with_other_side AS (
    SELECT *, count(*) OVER (PARTITION BY run, match_id, is_backward, location, op_name, input_shapes) = 2 AS is_in_both
    FROM variant
),
-- Shapes that both runs have pair; of the others the first pairs with the first, the second with the second.
with_place AS (
    SELECT *, if(
        is_in_both,
        0,
        row_number() OVER (
            PARTITION BY run, side, match_id, is_backward, location, op_name, is_in_both
            ORDER BY first_start_ns, input_shapes
        )
    ) AS place
    FROM with_other_side
),
with_row AS (
    SELECT *, dense_rank() OVER (
        ORDER BY run, match_id, is_backward, location, op_name, is_in_both, place, if(is_in_both, input_shapes, NULL)
    ) AS row_number
    FROM with_place
),
row_of_op AS (
    SELECT row_number, side, unnest(op_numbers) AS op_number
    FROM with_row
),
of_sample AS (
    SELECT
        row_of_op.row_number,
        row_of_op.side,
        sum(op.kernel_count)::BIGINT AS kernel_count,
        sum(op.duration_ns)::BIGINT AS duration_ns,
        sum(op.duration_ns)::HUGEINT // min(op.unit_count) AS sample_ns
    FROM runs.compared_op_sample AS op
    JOIN row_of_op USING (op_number)
    GROUP BY row_of_op.row_number, row_of_op.side, op.sample_id
),
figure AS (
    SELECT
        row_number,
        coalesce(sum(kernel_count) FILTER (side = 'base'), 0)::BIGINT AS base_kernel_count,
        coalesce(sum(kernel_count) FILTER (side = 'new'), 0)::BIGINT AS new_kernel_count,
        coalesce(sum(duration_ns) FILTER (side = 'base'), 0)::BIGINT AS base_sum_ns,
        coalesce(sum(duration_ns) FILTER (side = 'new'), 0)::BIGINT AS new_sum_ns,
        samples_of_sides(side, sample_ns) AS samples
    FROM of_sample
    GROUP BY row_number
),
pair AS (
    SELECT
        row_number,
        min(run) AS run,
        min(match_id) AS match_id,
        bool_or(is_backward) AS is_backward,
        min(location) AS location,
        min(op_name) AS op_name,
        min(input_shapes) FILTER (side = 'base') AS base_input_shapes,
        min(input_shapes) FILTER (side = 'new') AS new_input_shapes,
        min(kernel_types) FILTER (side = 'base') AS base_kernel_types,
        min(kernel_types) FILTER (side = 'new') AS new_kernel_types,
        bool_and(has_types) AS has_types
    FROM with_row
    GROUP BY row_number
),
compared AS (
    SELECT
        pair.*,
        figure.* EXCLUDE (row_number),
        comparison.base_unit_count,
        comparison.new_unit_count,
        comparison.difference_ns AS whole_difference_ns,
        comparison.noise_reason,
        comparison.has_common_types,
        figure.base_sum_ns / comparison.base_unit_count AS base_ns,
        figure.new_sum_ns / comparison.new_unit_count AS new_ns,
        unnest(variation_of_sides(figure.samples, comparison.base_sample_count, comparison.new_sample_count))
    FROM pair
    JOIN figure USING (row_number)
    JOIN runs.comparison USING (run)
),
limits AS (
    SELECT run, significance_limit(p_value) AS p_limit
    FROM compared
    GROUP BY run
),
judged AS (
    SELECT
        compared.*,
        p_value > coalesce(p_limit, -1) AS is_noise,
        match.parent_module,
        match.module
    FROM compared
    JOIN limits USING (run)
    LEFT JOIN runs.module_match AS match ON match.run = compared.run AND match.match_id = compared.match_id
)
SELECT
    run,
    parent_module,
    if(is_backward, '[Backward]', '') || module AS module,
    location,
    op_name,
    CASE
        WHEN judged.base_kernel_count > 0 AND judged.new_kernel_count > 0
            AND base_input_shapes IS DISTINCT FROM new_input_shapes THEN 'other shapes'
        WHEN judged.base_kernel_count > 0 AND judged.new_kernel_count > 0
            AND has_types AND has_common_types AND base_kernel_types <> new_kernel_types THEN 'other kernels'
        ELSE change_of(
            judged.base_kernel_count, judged.new_kernel_count, base_unit_count, new_unit_count, base_ns, new_ns, is_noise
        )
    END AS change,
    base_input_shapes,
    new_input_shapes,
    base_kernel_types,
    new_kernel_types,
    base_kernel_count / base_unit_count AS base_kernel_count,
    new_kernel_count / new_unit_count AS new_kernel_count,
    base_ns,
    new_ns,
    new_ns - base_ns AS difference_ns,
    new_ns / nullif(base_ns, 0) AS ratio,
    (new_ns - base_ns) / nullif(whole_difference_ns, 0) AS difference_share,
    base_sd_ns,
    new_sd_ns,
    p_value,
    is_noise,
    if(is_noise IS NULL, noise_reason, NULL) AS reason,
    base_sum_ns,
    new_sum_ns,
    judged.base_kernel_count AS base_kernel_sum,
    judged.new_kernel_count AS new_kernel_sum,
    match_id,
    is_backward
FROM judged
ORDER BY run, abs(new_ns - base_ns) DESC, parent_module, judged.module, location, op_name, base_input_shapes, new_input_shapes
