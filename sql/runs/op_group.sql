-- One row is an op that changed in the same way in modules of equal classes, whatever its input shapes, with its kernels in the
-- base and in the new run, those that changed most first.
--
-- run                VARCHAR  the run that is compared with the base
-- op_name            VARCHAR  the op; NULL when linked to no op
-- modules            VARCHAR  the modules, where numbers of siblings are ranges, as in runs.module_group; outside modules, why
-- module_count       BIGINT   modules; NULL outside modules
-- change             VARCHAR  what changed, as in runs.op_comparison
-- base_kernel_types  VARCHAR  types of its kernels in the base, joined by ', '; NULL when none is known
-- new_kernel_types   VARCHAR  types of its kernels in the new run, likewise
-- base_input_shapes  VARCHAR  input shapes in the base; NULL when there are several, or none is known
-- new_input_shapes   VARCHAR  input shapes in the new run, likewise
-- @columns base_kernel_count to ratio as in runs.op_comparison
-- is_noise           BOOLEAN  whether the differences are no more than the times vary anyway; NULL when not known
WITH op AS (
    SELECT
        op.*,
        place.classes,
        place.numbers,
        -- Where noise is not known, one that changed far more than most of its kind must not vanish among them.
        op.is_noise IS NULL AND abs(op.difference_ns) > 4 * quantile_disc(abs(op.difference_ns), 0.5) OVER (
            PARTITION BY op.run, place.classes, op.is_backward, op.location, op.op_name, op.change
        ) AS is_far
    FROM runs.op_comparison AS op
    LEFT JOIN runs.module_place AS place ON place.run = op.run AND place.match_id = op.match_id
),
group_of_ops AS (
    SELECT
        run,
        op_name,
        if(classes IS NULL, location, folded_path(classes, list(numbers), is_backward)) AS modules,
        if(classes IS NULL, NULL, count(DISTINCT numbers)) AS module_count,
        change,
        base_kernel_types,
        new_kernel_types,
        is_noise,
        if(count(DISTINCT base_input_shapes) = 1, min(base_input_shapes), NULL) AS base_input_shapes,
        if(count(DISTINCT new_input_shapes) = 1, min(new_input_shapes), NULL) AS new_input_shapes,
        sum(base_kernel_sum)::BIGINT AS base_kernel_sum,
        sum(new_kernel_sum)::BIGINT AS new_kernel_sum,
        sum(base_sum_ns)::BIGINT AS base_sum_ns,
        sum(new_sum_ns)::BIGINT AS new_sum_ns
    FROM op
    GROUP BY run, classes, is_backward, location, op_name, change, base_kernel_types, new_kernel_types, is_noise, is_far
),
per_unit AS (
    SELECT
        group_of_ops.*,
        base_kernel_sum / comparison.base_unit_count AS base_kernel_count,
        new_kernel_sum / comparison.new_unit_count AS new_kernel_count,
        group_of_ops.base_sum_ns / comparison.base_unit_count AS base_ns,
        group_of_ops.new_sum_ns / comparison.new_unit_count AS new_ns
    FROM group_of_ops
    JOIN runs.comparison USING (run)
)
SELECT
    run,
    op_name,
    modules,
    module_count,
    change,
    base_kernel_types,
    new_kernel_types,
    base_input_shapes,
    new_input_shapes,
    base_kernel_count,
    new_kernel_count,
    base_ns,
    new_ns,
    new_ns - base_ns AS difference_ns,
    new_ns / nullif(base_ns, 0) AS ratio,
    is_noise
FROM per_unit
ORDER BY run, abs(new_ns - base_ns) DESC, modules, op_name, change, base_kernel_types, new_kernel_types
