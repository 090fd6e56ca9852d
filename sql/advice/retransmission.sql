-- One row is a type of communication operators of a rank with a transfer over RDMA that takes so long that packets were
-- probably lost and sent again.
--
-- @guard communication.packet
-- @title RDMA transfers are probably sent again
-- @evidence the longest of {count} transfers over RDMA takes {time_ns}; operators of this type take {exposed_ns} without
--     computing
-- @kind upper bound
-- @remedy Check the network for lost packets: counters of the port for retransmission<< (hccn_tool -i N -stat -g)||>>, flow
--     control (PFC, ECN) and traffic class on hosts and switches, cables and optical modules; HCCL_RDMA_TIMEOUT and
--     HCCL_RDMA_RETRY_CNT decide when it is sent again.
-- @query SELECT longest_ns, duration_ns, transfer_count, type, rank_id FROM communication.packet WHERE link = 'RDMA' ORDER BY
--     longest_ns DESC LIMIT 50
-- @counts transfers
-- @requires transfers
-- @threshold least_ns 4000000000 ns: Time of a transfer over RDMA, as msprof-analyze has it
--
-- @columns profile to rank_id, kernel_type, count to win_ns as in advice.finding_of_rank
-- exposed_ns  BIGINT  time of operators of this type without computing, ns
--
-- A transfer over RDMA of `least_ns` (4 s, from msprof-analyze) or more: the timeout after which a lost packet is sent again.
-- The win is its time, but at most the time that the operators of its type take without computing: an **upper bound**.
--
-- msprof-analyze has one more rule, *bandwidth contention* (SDMA below 0.8 x 18 GB/s beside computing). We leave it out: a
-- transfer beside computing is covered, so a faster one saves nothing, and 18 GB/s is the rate of one device type. If the
-- transfer slows computing, the rate of the kernels shows it.
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_ns') AS least_ns
    FROM advice.threshold
    WHERE rule = 'retransmission'
),
transfer AS (
    SELECT
        profile,
        rank_id,
        type AS operation,
        sum(transfer_count)::BIGINT AS transfer_count,
        max(longest_ns) AS longest_ns
    FROM communication.packet
    WHERE link = 'RDMA' AND NOT is_within_device
    GROUP BY profile, rank_id, operation
),
exposed AS (
    SELECT profile, operation, min(type) AS type, sum(exposed_ns)::BIGINT AS exposed_ns
    FROM communication.exposed
    GROUP BY profile, operation
)
SELECT
    transfer.profile,
    transfer.rank_id,
    exposed.type AS kernel_type,
    transfer_count AS count,
    longest_ns AS time_ns,
    least(longest_ns, exposed_ns) AS win_ns,
    exposed_ns
FROM transfer
JOIN exposed ON exposed.profile = transfer.profile AND exposed.operation IS NOT DISTINCT FROM transfer.operation
CROSS JOIN threshold
WHERE longest_ns >= least_ns
