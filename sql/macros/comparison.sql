-- Each row with `is_noise`: whether its difference may be chance, judged by all p-values of its run; NULL where it has none.
-- `differing` is the name of a CTE with run and p_value. `counts` says whether a row can have changed at all: the others leave
-- the limit as it is.
CREATE MACRO IF NOT EXISTS with_noise(differing, counts := true) AS TABLE
    WITH limit_of_run AS (
        SELECT run, significance_limit(CASE WHEN counts THEN p_value END) AS p_limit
        FROM query_table(differing)
        GROUP BY run
    )
    SELECT * EXCLUDE (p_limit), p_value > coalesce(p_limit, -1) AS is_noise
    FROM query_table(differing)
    JOIN limit_of_run USING (run);

-- What something costs in the base and in the new run: `run`, `key`, `change` as in change_of(), `base_count` and `new_count`
-- in all units (NULL where a side has none), `base_unit_count`, `new_unit_count`, `times` (base_ns to new_sum_ns as in
-- runs.op_comparison) and `more`. `sampled` is the name of a CTE with a row for each key, side and sample: run, side,
-- work_count, duration_ns, and sample_ns, the value of the sample, NULL for work of no sample. `comparison` is the name of a
-- CTE of runs.comparison. `key` is a struct of columns of `sampled`, `more` a struct of aggregates over them. `unsampled` is
-- the reason why it is not known of work of no sample whether it changed; by default, that it belongs to no unit.
CREATE MACRO IF NOT EXISTS compared_times(sampled, comparison, key, more := NULL, unsampled := NULL) AS TABLE
    WITH time_of_key AS (
        SELECT
            run,
            key AS key_of_time,
            (sum(work_count) FILTER (side = 'base'))::BIGINT AS base_count,
            (sum(work_count) FILTER (side = 'new'))::BIGINT AS new_count,
            coalesce(sum(duration_ns) FILTER (side = 'base'), 0)::BIGINT AS base_sum_ns,
            coalesce(sum(duration_ns) FILTER (side = 'new'), 0)::BIGINT AS new_sum_ns,
            count(sample_ns) > 0 AS has_samples,
            samples_of_sides(side, sample_ns) AS samples,
            more AS more_of_key
        FROM query_table(sampled)
        GROUP BY run, key_of_time
    ),
    time_per_unit AS (
        SELECT
            time_of_key.*,
            unit.base_unit_count,
            unit.new_unit_count,
            unit.noise_reason,
            unit.base_unit_kind,
            time_of_key.base_sum_ns / unit.base_unit_count AS base_ns,
            time_of_key.new_sum_ns / unit.new_unit_count AS new_ns,
            sum(time_of_key.new_sum_ns) OVER (PARTITION BY run) / unit.new_unit_count
                - sum(time_of_key.base_sum_ns) OVER (PARTITION BY run) / unit.base_unit_count AS whole_difference_ns,
            unnest(
                variation_of_sides(
                    time_of_key.samples,
                    if(time_of_key.has_samples, unit.base_sample_count, 0),
                    if(time_of_key.has_samples, unit.new_sample_count, 0)
                )
            )
        FROM time_of_key
        JOIN query_table(comparison) AS unit USING (run)
    )
    SELECT
        run,
        key_of_time AS key,
        change_of(
            coalesce(base_count, 0), coalesce(new_count, 0), base_unit_count, new_unit_count, base_ns, new_ns, is_noise
        ) AS change,
        base_count,
        new_count,
        base_unit_count,
        new_unit_count,
        {
            'base_ns': base_ns,
            'new_ns': new_ns,
            'difference_ns': new_ns - base_ns,
            'ratio': new_ns / nullif(base_ns, 0),
            'difference_share': (new_ns - base_ns) / nullif(whole_difference_ns, 0),
            'base_sd_ns': base_sd_ns,
            'new_sd_ns': new_sd_ns,
            'p_value': p_value,
            'is_noise': is_noise,
            'reason': CASE
                WHEN is_noise IS NULL THEN coalesce(noise_reason, unsampled, 'its kernels belong to no ' || base_unit_kind)
            END,
            'base_sum_ns': base_sum_ns,
            'new_sum_ns': new_sum_ns
        } AS times,
        more_of_key AS more
    FROM with_noise(time_per_unit);

-- The n-th smallest of `count` numbers, of which the list has those that are not 0, in order.
CREATE MACRO IF NOT EXISTS nth_smallest(sorted, count, n) AS if(n <= count - len(sorted), 0, sorted[n - count + len(sorted)]);

-- The median of all numbers but one: the smallest that at least half of the others do not exceed. `sorted` as above; NULL
-- without others.
CREATE MACRO IF NOT EXISTS median_of_others(sorted, count, own) AS
    CASE
        WHEN count > 1
            THEN nth_smallest(sorted, count, count // 2 + if(own <= nth_smallest(sorted, count, count // 2), 1, 0))
    END;
