-- One row is a type of kernels with its input shapes, with its kernels in the base and in the new run, those that changed most
-- first. The sums of all rows are the time of all kernels.
--
-- @sum base_ns, new_ns, difference_ns, base_sum_ns, new_sum_ns, base_kernel_count, new_kernel_count
--
-- run                VARCHAR  the run that is compared with the base
-- kind               VARCHAR  kind of the kernels: compute, communication, copy or schedule
-- type               VARCHAR  operator type; NULL when it is not known
-- input_shapes       VARCHAR  input shapes, on GPUs those of the op; NULL when not recorded in both runs
-- place              VARCHAR  outside every step (or call) for kernels of no unit; NULL for those of units
-- change             VARCHAR  added, removed, more often, less often, slower, faster; noise where only the time changed, by no
--                             more than it varies anyway; NULL where nothing changed
-- base_kernel_count  DOUBLE   kernels in the base per unit; those of no unit are divided by the number of units too
-- new_kernel_count   DOUBLE   kernels in the new run per unit
-- base_mean_ns       DOUBLE   mean time of a kernel in the base, ns; NULL without any
-- new_mean_ns        DOUBLE   mean time of a kernel in the new run, ns; NULL without any
-- @columns base_ns to new_sum_ns as in runs.op_comparison
WITH of_sample AS (
    SELECT
        op.run,
        op.side,
        op.kind,
        op.type,
        op.input_shapes,
        op.place,
        sum(sample.kernel_count)::BIGINT AS kernel_count,
        sum(sample.duration_ns)::BIGINT AS duration_ns,
        sum(sample.duration_ns)::HUGEINT // min(sample.unit_count) AS sample_ns
    FROM runs.compared_op_sample AS sample
    JOIN runs.compared_op AS op USING (op_number)
    GROUP BY op.run, op.side, op.kind, op.type, op.input_shapes, op.place, sample.sample_id
),
figure AS (
    SELECT
        run,
        kind,
        type,
        input_shapes,
        place,
        coalesce(sum(kernel_count) FILTER (side = 'base'), 0)::BIGINT AS base_kernel_count,
        coalesce(sum(kernel_count) FILTER (side = 'new'), 0)::BIGINT AS new_kernel_count,
        coalesce(sum(duration_ns) FILTER (side = 'base'), 0)::BIGINT AS base_sum_ns,
        coalesce(sum(duration_ns) FILTER (side = 'new'), 0)::BIGINT AS new_sum_ns,
        samples_of_sides(side, sample_ns) AS samples
    FROM of_sample
    GROUP BY run, kind, type, input_shapes, place
),
compared AS (
    SELECT
        figure.*,
        comparison.base_unit_count,
        comparison.new_unit_count,
        comparison.difference_ns AS whole_difference_ns,
        comparison.noise_reason,
        figure.base_sum_ns / comparison.base_unit_count AS base_ns,
        figure.new_sum_ns / comparison.new_unit_count AS new_ns,
        unnest(variation_of_sides(figure.samples, comparison.base_sample_count, comparison.new_sample_count))
    FROM figure
    JOIN runs.comparison USING (run)
),
limits AS (
    SELECT run, significance_limit(p_value) AS p_limit
    FROM compared
    GROUP BY run
),
judged AS (
    SELECT *, p_value > coalesce(p_limit, -1) AS is_noise
    FROM compared
    JOIN limits USING (run)
)
SELECT
    run,
    kind,
    type,
    input_shapes,
    place,
    change_of(
        judged.base_kernel_count,
        judged.new_kernel_count,
        base_unit_count,
        new_unit_count,
        base_ns,
        new_ns,
        is_noise
    ) AS change,
    base_kernel_count / base_unit_count AS base_kernel_count,
    new_kernel_count / new_unit_count AS new_kernel_count,
    base_sum_ns / nullif(judged.base_kernel_count, 0) AS base_mean_ns,
    new_sum_ns / nullif(judged.new_kernel_count, 0) AS new_mean_ns,
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
    new_sum_ns
FROM judged
ORDER BY run, abs(new_ns - base_ns) DESC, kind, type, input_shapes, place
