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
variant_in_both AS (
    SELECT *, count(*) OVER (PARTITION BY run, match_id, is_backward, location, op_name, input_shapes) = 2 AS is_in_both
    FROM variant
),
-- Shapes that both runs have pair; of the others the first pairs with the first, the second with the second.
placed_variant AS (
    SELECT *, if(
        is_in_both,
        0,
        row_number() OVER (
            PARTITION BY run, side, match_id, is_backward, location, op_name, is_in_both
            ORDER BY first_start_ns, input_shapes
        )
    ) AS place
    FROM variant_in_both
),
side_of_row AS (
    SELECT *, dense_rank() OVER (
        ORDER BY run, match_id, is_backward, location, op_name, is_in_both, place, if(is_in_both, input_shapes, NULL)
    ) AS row_number
    FROM placed_variant
),
op_of_row AS (
    SELECT row_number, run, side, unnest(op_numbers) AS op_number
    FROM side_of_row
),
op_of_sample AS (
    SELECT
        op_of_row.row_number,
        op_of_row.run,
        op_of_row.side,
        sum(op.kernel_count) AS work_count,
        sum(op.duration_ns) AS duration_ns,
        sum(op.duration_ns)::HUGEINT // min(op.unit_count) AS sample_ns
    FROM runs.compared_op_sample AS op
    JOIN op_of_row USING (op_number)
    GROUP BY op_of_row.row_number, op_of_row.run, op_of_row.side, op.sample_id
),
pair AS (
    SELECT
        row_number,
        min(match_id) AS match_id,
        bool_or(is_backward) AS is_backward,
        min(location) AS location,
        min(op_name) AS op_name,
        min(input_shapes) FILTER (side = 'base') AS base_input_shapes,
        min(input_shapes) FILTER (side = 'new') AS new_input_shapes,
        min(kernel_types) FILTER (side = 'base') AS base_kernel_types,
        min(kernel_types) FILTER (side = 'new') AS new_kernel_types,
        bool_and(has_types) AS has_types
    FROM side_of_row
    GROUP BY row_number
),
comparison AS (FROM runs.comparison)
SELECT
    run,
    match.parent_module,
    if(pair.is_backward, '[Backward]', '') || match.module AS module,
    pair.location,
    pair.op_name,
    CASE
        WHEN op.base_count > 0 AND op.new_count > 0 AND pair.base_input_shapes IS DISTINCT FROM pair.new_input_shapes
            THEN 'other shapes'
        WHEN op.base_count > 0 AND op.new_count > 0
            AND pair.has_types AND comparison.has_common_types AND pair.base_kernel_types <> pair.new_kernel_types
            THEN 'other kernels'
        ELSE op.change
    END AS change,
    pair.base_input_shapes,
    pair.new_input_shapes,
    pair.base_kernel_types,
    pair.new_kernel_types,
    coalesce(op.base_count, 0) / op.base_unit_count AS base_kernel_count,
    coalesce(op.new_count, 0) / op.new_unit_count AS new_kernel_count,
    unnest(op.times),
    coalesce(op.base_count, 0) AS base_kernel_sum,
    coalesce(op.new_count, 0) AS new_kernel_sum,
    pair.match_id,
    pair.is_backward
FROM compared_times(op_of_sample, comparison, {'row_number': row_number}) AS op
JOIN comparison USING (run)
JOIN pair ON pair.row_number = op.key.row_number
LEFT JOIN runs.module_match AS match USING (run, match_id)
ORDER BY
    run,
    abs(op.times.difference_ns) DESC,
    match.parent_module,
    match.module,
    pair.location,
    pair.op_name,
    pair.base_input_shapes,
    pair.new_input_shapes,
    pair.is_backward
