-- One row is a step of a rank as `step-time` has it, in the columns of ClusterTimeSummary of msprof-analyze.
--
-- @beside ClusterTimeSummary of cluster_time_summary by rank, step
--
-- rank                                   INTEGER        rank; -1 when the files name none
-- step                                   BIGINT         number of the step; -1 where none is recorded
-- step_time                              DECIMAL(18,3)  time of the step on the host, us
-- computation                            DECIMAL(18,3)  time with a compute kernel, us
-- communication_not_overlap_computation  DECIMAL(18,3)  time with a communication operator and no compute kernel, us
-- communication_overlap_computation      DECIMAL(18,3)  time with both, us
-- communication                          DECIMAL(18,3)  time with a communication operator, us
-- free                                   DECIMAL(18,3)  idle time without copies, us
-- memory                                 DECIMAL(18,3)  time with a copy, us
-- memory_not_overlap_computation_communication  DECIMAL(18,3)  time with a copy alone, us
-- copies_in_free                         DECIMAL(18,3)  the part of that between the first and the last kernel of the step, us
SELECT
    coalesce(time.rank_id, -1) AS rank,
    coalesce(time.step_id, -1) AS step,
    coalesce(time.host_ns / 1000, (time.computing_ns + time.communication_not_overlapped_ns + time.free_ns) / 1000)
        ::DECIMAL(18, 3) AS step_time,
    (time.computing_ns / 1000)::DECIMAL(18, 3) AS computation,
    (time.communication_not_overlapped_ns / 1000)::DECIMAL(18, 3) AS communication_not_overlap_computation,
    (time.overlapped_ns / 1000)::DECIMAL(18, 3) AS communication_overlap_computation,
    (time.communication_ns / 1000)::DECIMAL(18, 3) AS communication,
    ((time.free_ns - coalesce(copy.in_free_ns, 0)) / 1000)::DECIMAL(18, 3) AS free,
    coalesce(copy.copying_ns / 1000, 0)::DECIMAL(18, 3) AS memory,
    coalesce(copy.not_overlapped_ns / 1000, 0)::DECIMAL(18, 3) AS memory_not_overlap_computation_communication,
    coalesce(copy.in_free_ns / 1000, 0)::DECIMAL(18, 3) AS copies_in_free
FROM step.time
LEFT JOIN step.copy
    ON copy.profile = time.profile AND copy.step_id IS NOT DISTINCT FROM time.step_id AND copy.direction = 'all'
QUALIFY time.step_id IS NOT NULL OR count(time.step_id) OVER (PARTITION BY time.profile) = 0
