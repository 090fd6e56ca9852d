-- The smallest value that at least `percent` of all values do not exceed, of values with the number of those up to each. Over
-- single values it is quantile_disc().
CREATE MACRO IF NOT EXISTS nearest_rank(value, count_up_to, count_of_all, percent) AS
    min(value) FILTER (count_up_to * 100 >= count_of_all * percent);

-- Over all values of a group, in integers up to the root: so it does not depend on the order in which they come.
CREATE MACRO IF NOT EXISTS standard_deviation(value) AS
    sqrt((count(value) * sum(value::HUGEINT * value) - sum(value) * sum(value))::DOUBLE) / count(value);

-- A ratio times the duration of its kernel, in 10^-12 ns. What is no number, or no ratio by any stretch, is NULL.
CREATE MACRO IF NOT EXISTS ratio_time(ratio, duration_ns) AS
    CASE WHEN abs(ratio) <= 1000000 THEN round(ratio * 1000000000000)::HUGEINT * duration_ns END;

-- The mean of a ratio over kernels that have it, by their times; in integers up to the division, so that it does not depend on
-- the order.
CREATE MACRO IF NOT EXISTS mean_ratio(ratio, duration_ns) AS
    sum(ratio_time(ratio, duration_ns))
        / nullif(sum(duration_ns) FILTER (ratio_time(ratio, duration_ns) IS NOT NULL), 0) / 1000000000000;

-- The same as ratio_time() of a value of any size, to six decimals.
CREATE MACRO IF NOT EXISTS value_time(value, duration_ns) AS
    CASE WHEN abs(value) <= 10000000000000 THEN round(value * 1000000)::HUGEINT * duration_ns END;

-- The same as mean_ratio() of a value of any size.
CREATE MACRO IF NOT EXISTS mean_value(value, duration_ns) AS
    sum(value_time(value, duration_ns))
        / nullif(sum(duration_ns) FILTER (value_time(value, duration_ns) IS NOT NULL), 0) / 1000000;
