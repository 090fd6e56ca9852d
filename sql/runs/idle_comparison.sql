-- One row is a cause of the idle time of the device in the base and in the new run, the one that changed most first. The sums
-- of all rows are the idle time of all steps that are compared.
--
-- @sum base_ns, new_ns, difference_ns, base_sum_ns, new_sum_ns, base_gap_count, new_gap_count
--
-- run               VARCHAR  the run that is compared with the base
-- cause             VARCHAR  a cause of free.cause
-- base_gap_count    DOUBLE   gaps with this cause in the base per unit; NULL for kernels of another step
-- new_gap_count     DOUBLE   gaps with this cause in the new run per unit; NULL for kernels of another step
-- base_ns           DOUBLE   idle time with this cause in the base per unit, ns
-- new_ns            DOUBLE   idle time with this cause in the new run per unit, ns
-- difference_ns     DOUBLE   new_ns - base_ns
-- ratio             DOUBLE   new_ns / base_ns; NULL when that is 0
-- difference_share  DOUBLE   part of the difference of all idle time; NULL when that is 0
-- @columns base_sd_ns to new_sum_ns as in runs.op_comparison
WITH compared_step AS (
    -- Of several calls in a step it is not known which one idled.
    SELECT DISTINCT
        unit.run, unit.side, unit.profile, unit.step_id, if(run.sample_kind = 'call', NULL, unit.sample_id) AS sample_id
    FROM runs.compared_unit AS unit
    JOIN runs.compared_run AS run ON run.run = unit.run AND run.side = unit.side
),
of_sample AS (
    SELECT
        rank.run,
        rank.side,
        cause.cause,
        compared_step.sample_id,
        sum(cause.gap_count)::BIGINT AS gap_count,
        sum(cause.total_ns)::BIGINT AS total_ns,
        sum(cause.total_ns)::HUGEINT // min(sample.unit_count) AS sample_ns
    FROM free.cause
    JOIN runs.compared_rank AS rank ON rank.profile = cause.profile
    JOIN compared_step
        ON compared_step.run = rank.run AND compared_step.side = rank.side AND compared_step.profile = rank.profile
        AND compared_step.step_id IS NOT DISTINCT FROM cause.step_id
    LEFT JOIN runs.compared_sample AS sample
        ON sample.run = rank.run AND sample.side = rank.side AND sample.sample_id = compared_step.sample_id
    WHERE rank.pair IS NOT NULL
    GROUP BY rank.run, rank.side, cause.cause, compared_step.sample_id
),
figure AS (
    SELECT
        run,
        cause,
        sum(gap_count) FILTER (side = 'base') AS base_gap_count,
        sum(gap_count) FILTER (side = 'new') AS new_gap_count,
        coalesce(sum(total_ns) FILTER (side = 'base'), 0)::BIGINT AS base_sum_ns,
        coalesce(sum(total_ns) FILTER (side = 'new'), 0)::BIGINT AS new_sum_ns,
        count(sample_ns) > 0 AS has_samples,
        samples_of_sides(side, sample_ns) AS samples
    FROM of_sample
    GROUP BY run, cause
),
compared AS (
    SELECT
        figure.*,
        comparison.base_unit_count,
        comparison.new_unit_count,
        comparison.noise_reason,
        figure.base_sum_ns / comparison.base_unit_count AS base_ns,
        figure.new_sum_ns / comparison.new_unit_count AS new_ns,
        if(has_samples, comparison.base_sample_count, 0) AS base_samples,
        if(has_samples, comparison.new_sample_count, 0) AS new_samples,
        unnest(variation_of_sides(figure.samples, base_samples, new_samples))
    FROM figure
    JOIN runs.comparison USING (run)
),
limits AS (
    SELECT
        run,
        significance_limit(p_value) AS p_limit,
        sum(new_sum_ns) / min(new_unit_count) - sum(base_sum_ns) / min(base_unit_count) AS whole_difference_ns
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
    cause,
    base_gap_count / base_unit_count AS base_gap_count,
    new_gap_count / new_unit_count AS new_gap_count,
    base_ns,
    new_ns,
    new_ns - base_ns AS difference_ns,
    new_ns / nullif(base_ns, 0) AS ratio,
    (new_ns - base_ns) / nullif(whole_difference_ns, 0) AS difference_share,
    base_sd_ns,
    new_sd_ns,
    p_value,
    is_noise,
    if(is_noise IS NULL, coalesce(noise_reason, 'idle time is known by step, not by call'), NULL) AS reason,
    base_sum_ns,
    new_sum_ns
FROM judged
ORDER BY run, abs(new_ns - base_ns) DESC, cause
