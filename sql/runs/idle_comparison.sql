-- One row is a cause of the idle time of the device in the base and in the new run, the one that changed most first. The sums
-- of all rows are the idle time of all steps that are compared.
--
-- @sum base_ns, new_ns, difference_ns, base_sum_ns, new_sum_ns, base_gap_count, new_gap_count
--
-- run               VARCHAR  the run that is compared with the base
-- cause             VARCHAR  a cause of free.cause
-- base_gap_count    DOUBLE   gaps with this cause in the base per unit; NULL for kernels of no step
-- new_gap_count     DOUBLE   gaps with this cause in the new run per unit; NULL for kernels of no step
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
cause_of_sample AS (
    SELECT
        rank.run,
        rank.side,
        cause.cause,
        sum(cause.gap_count) AS work_count,
        sum(cause.total_ns) AS duration_ns,
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
comparison AS (FROM runs.comparison)
SELECT
    run,
    unnest(key),
    base_count / base_unit_count AS base_gap_count,
    new_count / new_unit_count AS new_gap_count,
    unnest(times)
FROM compared_times(
    cause_of_sample, comparison, {'cause': cause}, unsampled := 'idle time is known by step, not by call'
)
ORDER BY run, abs(times.difference_ns) DESC, key.cause
