-- One row is all communication operators over all ranks.
--
-- op_count                 BIGINT  operators; NULL without any
-- total_ns                 BIGINT  their time, ns; overlapping operators count fully; NULL without any
-- group_count              BIGINT  groups of ranks, that is, communicators, whose name is recorded
-- operators_without_group  BIGINT  operators whose group is not recorded
-- ranks_of_profiler        BIGINT  ranks with operators that have no kernel, whose times are those of the profiler
-- operators_of_profiler    BIGINT  these operators
WITH of_profiler AS (
    SELECT count(DISTINCT profile) AS rank_count, coalesce(sum(op_count), 0)::BIGINT AS op_count
    FROM communication.statistic
    WHERE origin = 'profiler'
)
SELECT
    sum(op_count)::BIGINT AS op_count,
    sum(total_ns)::BIGINT AS total_ns,
    count(DISTINCT group_name) AS group_count,
    coalesce(sum(op_count) FILTER (group_name IS NULL), 0)::BIGINT AS operators_without_group,
    (SELECT rank_count FROM of_profiler) AS ranks_of_profiler,
    (SELECT op_count FROM of_profiler) AS operators_of_profiler
FROM across.communication_statistic
