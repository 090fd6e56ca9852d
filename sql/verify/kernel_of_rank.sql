-- One row is a name, type, core and input shapes of compute kernels on a rank, whose durations `kernel-stats --by shapes`
-- counts, in the columns of ComputeOpPerRankStatsByOpName of msprof-analyze, which does not tell their data types apart.
--
-- @beside ComputeOpPerRankStatsByOpName of compute_op_sum by rank, op_name, op_type, task_type, input_shapes
--
-- rank          INTEGER  rank; -1 when the files name none
-- op_name       VARCHAR  name of the kernels
-- op_type       VARCHAR  operator type as recorded; NULL at Level0
-- task_type     VARCHAR  cores they ran on
-- input_shapes  VARCHAR  input shapes; NULL at Level0
-- @columns count to sum_ns as in verify.kernel_type_of_rank
WITH named_type AS (
    SELECT DISTINCT profile, type
    FROM kernels.duration
    WHERE kind = 'compute' AND type_from = 'name'
),
counted_duration AS (
    SELECT
        coalesce(rank_id, -1) AS rank,
        name,
        if(named_type.type IS NULL, shape_duration.type, NULL) AS type,
        core,
        input_shapes,
        duration_ns,
        sum(kernel_count) AS row_count
    FROM kernels.shape_duration
    LEFT JOIN named_type ON named_type.profile = shape_duration.profile AND named_type.type = shape_duration.type
    WHERE kind = 'compute'
    GROUP BY ALL
)
FROM sample_statistic_of(
    counted_duration,
    {'rank': rank, 'op_name': name, 'op_type': type, 'task_type': core, 'input_shapes': input_shapes}
)
