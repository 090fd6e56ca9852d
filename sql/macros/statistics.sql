-- The smallest value that at least `percent` % of all values do not exceed, where each row is a value and the number of values
-- up to it. For a row per value, quantile_disc() gives the same.
CREATE MACRO IF NOT EXISTS nearest_rank(value, count_up_to, count_of_all, percent) AS
    min(value) FILTER (count_up_to * 100 >= count_of_all * percent);

-- A quantile by linear interpolation between two values, as pandas and numpy have it; rows as in nearest_rank().
CREATE MACRO IF NOT EXISTS interpolated(value, count_up_to, count_of_all, percent) AS
    min(value) FILTER (count_up_to * 100 > (count_of_all - 1) * percent // 100 * 100)
    + (
        min(value) FILTER (count_up_to * 100 >= (count_of_all - 1) * percent + 100)
        - min(value) FILTER (count_up_to * 100 > (count_of_all - 1) * percent // 100 * 100)
    ) * min((count_of_all - 1) * percent % 100) / 100;

-- Its quartiles.
CREATE MACRO IF NOT EXISTS interpolated_quartiles(value, count_up_to, count_of_all) AS
    {
        'q1_ns': interpolated(value, count_up_to, count_of_all, 25),
        'median_ns': interpolated(value, count_up_to, count_of_all, 50),
        'q3_ns': interpolated(value, count_up_to, count_of_all, 75)
    };

-- The standard deviation of all values of a group, in integers up to the root, so that it does not depend on the order of rows.
CREATE MACRO IF NOT EXISTS standard_deviation(value) AS
    sqrt((count(value) * sum(value::HUGEINT * value) - sum(value) * sum(value))::DOUBLE) / count(value);

-- The same where a row is a value and the number of times that it occurs.
CREATE MACRO IF NOT EXISTS deviation_of_counted(value, value_count) AS
    sqrt(
        (
            sum(value_count) * sum(value::HUGEINT * value * value_count)
            - sum(value::HUGEINT * value_count) * sum(value::HUGEINT * value_count)
        )::DOUBLE
    ) / sum(value_count);

-- The statistic of each key over durations and how often each occurs: `key`, `row_count`, `total_ns`, `spread` (mean_ns,
-- stddev_ns, min_ns, q1_ns, median_ns, q3_ns, p95_ns, max_ns; quantiles as nearest_rank() has them) and `more`. `counted` is
-- the name of a CTE with duration_ns and row_count; `key` is a struct of its columns, ids or texts; `more` a struct of
-- aggregates over its columns.
CREATE MACRO IF NOT EXISTS statistic_of(counted, key, more := NULL) AS TABLE
    WITH keyed_duration AS (
        SELECT *, key AS key_of_duration
        FROM query_table(counted)
    ),
    ranked_duration AS (
        SELECT
            *,
            sum(row_count) OVER (of_key ORDER BY duration_ns) AS count_up_to,
            sum(row_count) OVER of_key AS count_of_all
        FROM keyed_duration
        WINDOW of_key AS (PARTITION BY key_of_duration)
    )
    SELECT
        key_of_duration AS key,
        sum(row_count)::BIGINT AS row_count,
        sum(duration_ns * row_count)::BIGINT AS total_ns,
        {
            'mean_ns': sum(duration_ns::HUGEINT * row_count) / sum(row_count),
            'stddev_ns': deviation_of_counted(duration_ns, row_count),
            'min_ns': min(duration_ns),
            'q1_ns': nearest_rank(duration_ns, count_up_to, count_of_all, 25),
            'median_ns': nearest_rank(duration_ns, count_up_to, count_of_all, 50),
            'q3_ns': nearest_rank(duration_ns, count_up_to, count_of_all, 75),
            'p95_ns': nearest_rank(duration_ns, count_up_to, count_of_all, 95),
            'max_ns': max(duration_ns)
        } AS spread,
        more AS more
    FROM ranked_duration
    GROUP BY key_of_duration;

-- The same in the columns that msprof-analyze has for durations: the deviation is that of a sample, and quartiles lie between
-- two values.
CREATE MACRO IF NOT EXISTS sample_statistic_of(counted, names) AS TABLE
    SELECT
        unnest(key),
        row_count AS count,
        spread.mean_ns,
        spread.stddev_ns * sqrt(row_count / nullif(row_count - 1, 0)) AS std_ns,
        spread.min_ns,
        more.q1_ns,
        more.median_ns,
        more.q3_ns,
        spread.max_ns,
        total_ns AS sum_ns
    FROM statistic_of(counted, names, interpolated_quartiles(duration_ns, count_up_to, count_of_all));

-- The statistic of host calls by each of `names`, a struct of columns: `durations` is the name of a CTE with the columns of
-- api.duration. What is not known of one of the calls of a row is NULL; the share, where it is not known of one row.
CREATE MACRO IF NOT EXISTS call_statistic_of(durations, names) AS TABLE
    WITH counted_duration AS (
        SELECT
            *,
            call_count AS row_count,
            coalesce(total_ns, duration_ns * call_count) AS calls_ns,
            coalesce(duration_ns, min_ns) AS shortest_ns,
            coalesce(duration_ns, max_ns) AS longest_ns
        FROM query_table(durations)
    ),
    total AS (
        SELECT unnest(key), row_count AS calls, spread, unnest(more)
        FROM statistic_of(
            counted_duration,
            names,
            {
                'self_ns': if(count(*) = count(self_ns), sum(self_ns)::BIGINT, NULL),
                'idle_ns': sum(idle_ns)::BIGINT,
                'total_ns': sum(calls_ns)::BIGINT,
                'is_counted': count(*) = count(duration_ns),
                'shortest_ns': if(count(*) = count(shortest_ns), min(shortest_ns), NULL),
                'longest_ns': if(count(*) = count(longest_ns), max(longest_ns), NULL)
            }
        )
    )
    SELECT
        * EXCLUDE (calls, spread, self_ns, idle_ns, total_ns, is_counted, shortest_ns, longest_ns),
        calls,
        self_ns,
        if(bool_and(self_ns IS NOT NULL) OVER (), self_ns / nullif(sum(self_ns) OVER (), 0), NULL) AS share,
        total_ns,
        idle_ns,
        total_ns / calls AS mean_ns,
        if(is_counted, spread.stddev_ns, NULL) AS stddev_ns,
        shortest_ns AS min_ns,
        if(is_counted, spread.q1_ns, NULL) AS q1_ns,
        if(is_counted, spread.median_ns, NULL) AS median_ns,
        if(is_counted, spread.q3_ns, NULL) AS q3_ns,
        if(is_counted, spread.p95_ns, NULL) AS p95_ns,
        longest_ns AS max_ns
    FROM total;

-- Whether a value counts as a ratio: it is a number, and not far too large.
CREATE MACRO IF NOT EXISTS is_ratio(value) AS abs(value) <= 1000000;

-- A ratio times the duration of its kernel, in 10^-12 ns. NULL for what is none.
CREATE MACRO IF NOT EXISTS ratio_time(ratio, duration_ns) AS
    CASE WHEN is_ratio(ratio) THEN round(ratio * 1000000000000)::HUGEINT * duration_ns END;

-- The mean of a ratio over the kernels that have it, weighted by their times; in integers up to the division, so that it does
-- not depend on the order of rows.
CREATE MACRO IF NOT EXISTS mean_ratio(ratio, duration_ns) AS
    sum(ratio_time(ratio, duration_ns))
        / nullif(sum(duration_ns) FILTER (is_ratio(ratio)), 0) / 1000000000000;

-- The two sums that mean_ratio() divides. Those of parts of a group can be added before they are divided.
CREATE MACRO IF NOT EXISTS ratio_sums(ratio, duration_ns) AS
    {
        'ratio_time': sum(ratio_time(ratio, duration_ns)),
        'duration_ns': sum(duration_ns) FILTER (is_ratio(ratio))
    };

-- mean_ratio() of a group, from the ratio_sums() of its parts.
CREATE MACRO IF NOT EXISTS mean_of_sums(sums) AS
    sum(sums.ratio_time) / nullif(sum(sums.duration_ns), 0) / 1000000000000;

-- Whether a value is a number that can be multiplied by times.
CREATE MACRO IF NOT EXISTS is_value(value) AS abs(value) <= 10000000000000;

-- The same as ratio_time() for a value of any size, to six decimals.
CREATE MACRO IF NOT EXISTS value_time(value, duration_ns) AS
    CASE WHEN is_value(value) THEN round(value * 1000000)::HUGEINT * duration_ns END;

-- ratio_sums() and mean_of_sums() for values of any size.
CREATE MACRO IF NOT EXISTS value_sums(value, duration_ns) AS
    {
        'value_time': sum(value_time(value, duration_ns)),
        'duration_ns': sum(duration_ns) FILTER (is_value(value))
    };

CREATE MACRO IF NOT EXISTS mean_of_value_sums(sums) AS
    sum(sums.value_time) / nullif(sum(sums.duration_ns), 0) / 1000000;

-- Mean of values of any size, weighted by time.
CREATE MACRO IF NOT EXISTS mean_value(value, duration_ns) AS
    sum(value_time(value, duration_ns))
        / nullif(sum(duration_ns) FILTER (is_value(value)), 0) / 1000000;
