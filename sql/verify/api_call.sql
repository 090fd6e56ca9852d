-- One row is a name of host calls into CANN over all ranks and layers, whose durations `api-stats` counts, in the columns of
-- CannApiSum of msprof-analyze. That table has no quartiles of all calls, but the lowest, middle and highest of the ranks, and
-- a standard deviation put together from those of the ranks: they have no counterpart here.
--
-- @beside CannApiSum of cann_api_sum by name
--
-- name           VARCHAR        name of the calls; NULL when the profile lost its text
-- time_ratio     DECIMAL(18,1)  part of the time of all calls, %
-- total_time_ns  BIGINT         their time, ns; a call inside a call of the same name counts too
-- total_count    BIGINT         calls
-- average_ns     DECIMAL(18,1)  mean time of a call, ns
-- min_ns         BIGINT         shortest time, ns
-- max_ns         BIGINT         longest time, ns
-- min_rank       VARCHAR        the ranks with the shortest time, joined by ', '
-- max_rank       VARCHAR        the ranks with the longest time, joined by ', '
WITH counted_duration AS (
    SELECT name, duration_ns, sum(call_count) AS row_count, list(DISTINCT coalesce(rank_id, -1)) AS ranks
    FROM api.duration
    GROUP BY name, duration_ns
)
SELECT
    key.name,
    (total_ns * 100 / nullif(sum(total_ns) OVER (), 0))::DECIMAL(18, 1) AS time_ratio,
    total_ns AS total_time_ns,
    row_count AS total_count,
    spread.mean_ns::DECIMAL(18, 1) AS average_ns,
    spread.min_ns,
    spread.max_ns,
    array_to_string(list_sort(more.min_ranks), ', ') AS min_rank,
    array_to_string(list_sort(more.max_ranks), ', ') AS max_rank
FROM statistic_of(
    counted_duration,
    {'name': name},
    {'min_ranks': arg_min(ranks, duration_ns), 'max_ranks': arg_max(ranks, duration_ns)}
)
