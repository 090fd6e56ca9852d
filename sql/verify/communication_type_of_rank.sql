-- One row is a type of communication operators on a rank, over all groups, whose durations `communication-stats` counts, in the
-- columns of HcclPerRankStats of msprof-analyze.
--
-- @beside HcclPerRankStats of hccl_sum by rank, op_type
--
-- rank       INTEGER  rank; -1 when the files name none
-- op_type    VARCHAR  type as recorded, such as hcom_allReduce_; NULL at Level0
-- count      BIGINT   operators
-- mean_ns    DOUBLE   mean time, ns
-- std_ns     DOUBLE   standard deviation of the times, taken for a sample, ns; NULL for one
-- min_ns     BIGINT   shortest time, ns
-- q1_ns      DOUBLE   first quartile, interpolated, ns
-- median_ns  DOUBLE   median, interpolated, ns
-- q3_ns      DOUBLE   third quartile, interpolated, ns
-- max_ns     BIGINT   longest time, ns
-- sum_ns     BIGINT   their time, ns
WITH named_type AS (
    SELECT DISTINCT profile, type
    FROM kernels.duration
    WHERE kind = 'communication' AND type_from = 'name'
),
counted_duration AS (
    SELECT
        coalesce(rank_id, -1) AS rank,
        if(named_type.type IS NULL, duration.type, NULL) AS type,
        duration_ns,
        sum(op_count) AS row_count
    FROM communication.duration
    LEFT JOIN named_type ON named_type.profile = duration.profile AND named_type.type = duration.type
    WHERE origin = 'kernels'
    GROUP BY ALL
)
FROM sample_statistic_of(counted_duration, {'rank': rank, 'op_type': type})
