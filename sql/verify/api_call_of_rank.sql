-- One row is a name of host calls into CANN on a rank, over all layers, whose durations `api-stats` counts, in the columns of
-- CannApiSumRank of msprof-analyze.
--
-- @beside CannApiSumRank of cann_api_sum by rank, name
--
-- rank            INTEGER        rank; -1 when the files name none
-- name            VARCHAR        name of the calls; NULL when the profile lost its text
-- duration_ratio  DECIMAL(18,2)  part of the time of all calls, %
-- total_time_ns   BIGINT         their time, ns; a call inside a call of the same name counts too
-- total_count     BIGINT         calls
-- average_ns      DECIMAL(18,1)  mean time of a call, ns
-- min_ns          BIGINT         shortest time, ns
-- q1_ns           DECIMAL(18,1)  first quartile, interpolated, ns
-- med_ns          DECIMAL(18,1)  median, interpolated, ns
-- q3_ns           DECIMAL(18,1)  third quartile, interpolated, ns
-- max_ns          BIGINT         longest time, ns
-- stdev           DECIMAL(18,1)  standard deviation of the times, ns
WITH counted_duration AS (
    SELECT coalesce(rank_id, -1) AS rank, name, duration_ns, sum(call_count) AS row_count
    FROM api.duration
    GROUP BY ALL
)
SELECT
    key.rank,
    key.name,
    (total_ns * 100 / nullif(sum(total_ns) OVER (PARTITION BY key.rank), 0))::DECIMAL(18, 2) AS duration_ratio,
    total_ns AS total_time_ns,
    row_count AS total_count,
    spread.mean_ns::DECIMAL(18, 1) AS average_ns,
    spread.min_ns,
    more.q1_ns::DECIMAL(18, 1) AS q1_ns,
    more.median_ns::DECIMAL(18, 1) AS med_ns,
    more.q3_ns::DECIMAL(18, 1) AS q3_ns,
    spread.max_ns,
    spread.stddev_ns::DECIMAL(18, 1) AS stdev
FROM statistic_of(
    counted_duration,
    {'rank': rank, 'name': name},
    interpolated_quartiles(duration_ns, count_up_to, count_of_all)
)
