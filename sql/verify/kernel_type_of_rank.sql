-- One row is a type and core of compute kernels on a rank, whose durations `kernel-stats` counts, in the columns of
-- ComputeOpPerRankStatsByOpType of msprof-analyze.
--
-- @beside ComputeOpPerRankStatsByOpType of compute_op_sum by rank, op_type, task_type
--
-- rank       INTEGER  rank; -1 when the files name none
-- op_type    VARCHAR  operator type as recorded; NULL at Level0
-- task_type  VARCHAR  cores they ran on
-- count      BIGINT   kernels
-- @columns mean_ns to sum_ns as in verify.communication_type_of_rank
WITH counted_duration AS (
    SELECT
        coalesce(rank_id, -1) AS rank,
        if(type_from = 'profile', type, NULL) AS type,
        core,
        duration_ns,
        sum(kernel_count) AS row_count
    FROM kernels.duration
    WHERE kind = 'compute' AND duration_ns IS NOT NULL
    GROUP BY ALL
)
FROM sample_statistic_of(counted_duration, {'rank': rank, 'op_type': type, 'task_type': core})
