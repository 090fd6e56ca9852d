-- One row is a type of communication operators of a rank with a transfer over RDMA that takes so long that packets were
-- probably lost and sent again.
-- Requires transfers.
--
-- profile to sql as in advice.finding_of_rank
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
    'RDMA transfers are probably sent again' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    exposed.type AS kernel_type,
    format(
        'the longest of {} transfers over RDMA takes {}; operators of this type take {} without computing',
        transfer_count,
        shown_time(longest_ns),
        shown_time(exposed_ns)
    ) AS evidence,
    transfer_count AS count,
    longest_ns AS time_ns,
    least(longest_ns, exposed_ns) AS win_ns,
    'upper bound' AS kind,
    'Check the network for lost packets: counters of the port for retransmission (hccn_tool -i N -stat -g on Ascend), flow '
    || 'control (PFC, ECN) and traffic class on hosts and switches, cables and optical modules; HCCL_RDMA_TIMEOUT and '
    || 'HCCL_RDMA_RETRY_CNT decide when it is sent again.' AS what_to_do,
    'docs/rules.md#retransmission' AS doc,
    'SELECT longest_ns, duration_ns, transfer_count, type, rank_id FROM communication.packet WHERE link = ''RDMA'' '
    || 'ORDER BY longest_ns DESC LIMIT 50' AS sql
FROM transfer
JOIN exposed USING (profile, operation)
CROSS JOIN threshold
WHERE longest_ns >= least_ns
