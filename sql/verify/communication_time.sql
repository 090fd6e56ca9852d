-- One row is a communication operator of a rank as `communication-time` has it, in the columns of ClusterCommunicationTime of
-- msprof-analyze.
--
-- @beside ClusterCommunicationTime of communication_time_sum by rank_id, hccl_op_name
--
-- rank_id               INTEGER        rank; -1 when the files name none
-- hccl_op_name          VARCHAR        name of the operator
-- elapsed_time          DECIMAL(18,6)  its time: transit, wait and idle, ms
-- transit_time          DECIMAL(18,6)  transfers over a link, ms; NULL when not known
-- wait_time             DECIMAL(18,6)  waits for other ranks, ms; NULL when not known
-- synchronization_time  DECIMAL(18,6)  the part of them before the first transfer, ms; NULL when not known
-- idle_time             DECIMAL(18,6)  the rest, ms; NULL when not known
SELECT
    coalesce(rank_id, -1) AS rank_id,
    name AS hccl_op_name,
    (elapse_ns / 1000000)::DECIMAL(18, 6) AS elapsed_time,
    (transit_ns / 1000000)::DECIMAL(18, 6) AS transit_time,
    (wait_ns / 1000000)::DECIMAL(18, 6) AS wait_time,
    (synchronization_ns / 1000000)::DECIMAL(18, 6) AS synchronization_time,
    (idle_ns / 1000000)::DECIMAL(18, 6) AS idle_time
FROM communication.time
