-- One row is one of the 15 names of communication operators with the longest mean time over all ranks, in the columns of
-- HcclTopOpStats of msprof-analyze.
--
-- @beside HcclTopOpStats of hccl_sum by op_name
--
-- op_name    VARCHAR  name of the operators
-- @columns count to sum_ns as in verify.communication_type
-- min_rank   INTEGER  the first rank with the shortest time
-- max_rank   INTEGER  the first rank with the longest time
WITH counted_duration AS (
    SELECT name, coalesce(rank_id, -1) AS rank, duration_ns, sum(kernel_count) AS row_count
    FROM kernels.shape_duration
    WHERE kind = 'communication'
    GROUP BY ALL
),
of_name AS (
    SELECT name, duration_ns, sum(row_count) AS row_count, min(rank) AS first_rank
    FROM counted_duration
    GROUP BY name, duration_ns
)
SELECT
    unnest(key),
    row_count AS count,
    spread.mean_ns,
    spread.stddev_ns * sqrt(row_count / nullif(row_count - 1, 0)) AS std_ns,
    spread.min_ns,
    more.quartiles.q1_ns,
    more.quartiles.median_ns,
    more.quartiles.q3_ns,
    spread.max_ns,
    total_ns AS sum_ns,
    more.min_rank,
    more.max_rank
FROM statistic_of(
    of_name,
    {'op_name': name},
    {
        'quartiles': interpolated_quartiles(duration_ns, count_up_to, count_of_all),
        'min_rank': arg_min(first_rank, duration_ns),
        'max_rank': arg_max(first_rank, duration_ns)
    }
)
QUALIFY row_number() OVER (ORDER BY spread.mean_ns DESC, key.op_name) <= 15
