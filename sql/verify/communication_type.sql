-- One row is a type of communication operators over all ranks and groups, whose durations `communication-stats` counts, in the
-- columns of HcclAllRankStats of msprof-analyze.
--
-- @beside HcclAllRankStats of hccl_sum by op_type
--
-- @columns op_type to sum_ns as in verify.communication_type_of_rank
WITH named_type AS (
    SELECT DISTINCT profile, type
    FROM kernels.duration
    WHERE kind = 'communication' AND type_from = 'name'
),
counted_duration AS (
    SELECT
        if(named_type.type IS NULL, duration.type, NULL) AS type,
        duration_ns,
        sum(op_count) AS row_count
    FROM communication.duration
    LEFT JOIN named_type ON named_type.profile = duration.profile AND named_type.type = duration.type
    WHERE origin = 'kernels'
    GROUP BY ALL
)
FROM sample_statistic_of(counted_duration, {'op_type': type})
