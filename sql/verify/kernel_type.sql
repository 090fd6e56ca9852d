-- One row is a type and core of compute kernels over all ranks, whose durations `kernel-stats` counts, in the columns of
-- ComputeOpAllRankStats of msprof-analyze.
--
-- @beside ComputeOpAllRankStats of compute_op_sum by op_type, task_type
--
-- @columns op_type to sum_ns as in verify.kernel_type_of_rank
WITH counted_duration AS (
    SELECT if(type_from = 'profile', type, NULL) AS type, core, duration_ns, sum(kernel_count) AS row_count
    FROM kernels.duration
    WHERE kind = 'compute' AND duration_ns IS NOT NULL
    GROUP BY ALL
)
FROM sample_statistic_of(counted_duration, {'op_type': type, 'task_type': core})
