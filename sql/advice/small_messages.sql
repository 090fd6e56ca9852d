-- One row is a type of collectives of a rank that move much in small packets, and so reach less than the bandwidth of their
-- links.
--
-- @guard communication.packet
-- @title Small messages use little of the bandwidth
-- @evidence (no best_gb_s) {small_count} of {packet_count} packets are small, {packet_bytes:,} bytes on average, and move
--     {small_gb_s:.2f} GB/s; no large packets here show what their links can do; {count} operators transfer for {time_ns} in
--     small packets without computing
-- @evidence {small_count} of {packet_count} packets are small, {packet_bytes:,} bytes on average, and move {small_gb_s:.2f}
--     GB/s, large ones up to {best_gb_s:.2f} GB/s; {count} operators transfer for {time_ns} in small packets without computing
-- @kind (no win_ns) hint
-- @kind upper bound
-- @remedy (is_in_modules) They lie between layers, so they cannot be one: give each more (larger micro-batches or batches of
--     requests), use fewer tensor parallel ranks, or operators that communicate and multiply at once<<;
--     HCCL_OP_EXPANSION_MODE=AIV shortens small ones||>>.
-- @remedy Send several at once: larger buckets of gradients (bucket_cap_mb of DDP, --ddp-bucket-size of Megatron), one flat
--     tensor for many small ones (torch.distributed.all_reduce_coalesced), fewer single values (losses, metrics).
-- @query SELECT duration_ns, size_bytes, packet_bytes, type, rank_id FROM communication.packet ORDER BY duration_ns DESC LIMIT
--     50
-- @counts transfers
-- @requires transfers
-- @threshold least_bytes 16777216 bytes: Smaller packets are small, over links within a node, as msprof-analyze has it for SDMA
-- @threshold least_operators 2: Operators of the type in a step: one alone cannot be sent with others
-- @threshold least_rdma_bytes 1048576 bytes: The same over RDMA, as msprof-analyze has it
-- @threshold least_share 0.2: Share of packets that must be small, as msprof-analyze has it
--
-- @columns profile to rank_id, kernel_type, count to win_ns as in advice.finding_of_rank
-- small_count    BIGINT   small packets
-- packet_count   BIGINT   all packets
-- packet_bytes   BIGINT   mean size of the small ones, bytes
-- small_gb_s     DOUBLE   rate at which they move, GB/s
-- best_gb_s      DOUBLE   best rate of large packets, GB/s; NULL where a link has none
-- is_in_modules  BOOLEAN  whether most of their time lies in modules
--
-- Types of collectives that send `least_share` (20 %) of their packets smaller than `least_bytes` (16 MiB), over RDMA
-- `least_rdma_bytes` (1 MiB); the thresholds are those of msprof-analyze. The rule needs the tasks of operators. The win is the
-- time of these packets beyond their time at the best rate of large packets on that kind of link, as part of the time in which
-- the operators transfer without computing. It is an **upper bound**, or a **hint** if no large packets were seen. The remedy
-- depends on the place: gradients can be sent together, data between layers cannot.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_bytes') AS least_bytes,
        max(value) FILTER (name = 'least_rdma_bytes') AS least_rdma_bytes,
        max(value) FILTER (name = 'least_share') AS least_share,
        max(value) FILTER (name = 'least_operators') AS least_operators
    FROM advice.threshold
    WHERE rule = 'small_messages'
),
packet AS (
    SELECT
        profile,
        type AS operation,
        link,
        packet_bytes,
        sum(transfer_count) AS transfer_count,
        sum(size_bytes) AS size_bytes,
        sum(duration_ns) AS duration_ns,
        size_bytes / nullif(transfer_count, 0) < if(link = 'RDMA', least_rdma_bytes, least_bytes) AS is_small
    FROM communication.packet
    CROSS JOIN threshold
    WHERE kind = 'collective' AND NOT is_within_device AND transfer_count > 0 AND duration_ns > 0
    GROUP BY ALL
),
-- The best rate seen with large packets, over all ranks.
best AS (
    SELECT link, max(rate) AS best_rate
    FROM (
        SELECT link, sum(size_bytes) / sum(duration_ns) AS rate
        FROM packet
        WHERE NOT is_small
        GROUP BY link, profile, operation, packet_bytes
    )
    GROUP BY link
),
small AS (
    SELECT
        packet.profile,
        packet.operation,
        sum(transfer_count) FILTER (is_small) AS small_count,
        sum(transfer_count) AS transfer_count,
        sum(size_bytes) FILTER (is_small) / small_count AS small_bytes,
        sum(duration_ns) FILTER (is_small) AS small_ns,
        sum(duration_ns) AS duration_ns,
        sum(size_bytes) FILTER (is_small) / small_ns AS small_rate,
        max(best_rate) FILTER (is_small) AS best_rate,
        -- Unknown where no large packets were seen on a link.
        if(
            count(*) FILTER (is_small AND best_rate IS NULL) > 0,
            NULL,
            sum(greatest(0, duration_ns - size_bytes / best_rate)) FILTER (is_small)
        ) AS lost_ns
    FROM packet
    LEFT JOIN best ON best.link IS NOT DISTINCT FROM packet.link
    GROUP BY packet.profile, packet.operation
),
-- Transfers go over several links at the same time: what counts is the time in which operators transfer without computing.
exposed AS (
    SELECT
        exposed.profile,
        exposed.rank_id,
        operation,
        min(type) AS type,
        sum(op_count)::BIGINT AS op_count,
        sum(exposed_ns) AS exposed_ns,
        sum(coalesce(transferring_ns, 0) + unknown_ns) AS transferring_ns,
        sum(exposed_ns) FILTER (module IS NOT NULL) * 2 > sum(exposed_ns) AS is_in_modules
    FROM communication.exposed
    WHERE direction IS NULL
    GROUP BY exposed.profile, exposed.rank_id, operation
),
candidate AS (
    SELECT
        exposed.*,
        small.* EXCLUDE (profile, operation, transfer_count, duration_ns),
        small.transfer_count AS packet_count,
        round(exposed.transferring_ns * small.small_ns / small.duration_ns)::BIGINT AS time_ns,
        round(exposed.transferring_ns * small.lost_ns / small.duration_ns)::BIGINT AS win_ns
    FROM exposed
    JOIN small ON small.profile = exposed.profile AND small.operation IS NOT DISTINCT FROM exposed.operation
    JOIN across.rank_step ON rank_step.profile = exposed.profile
    CROSS JOIN threshold
    WHERE small.small_count >= threshold.least_share * small.transfer_count
      AND exposed.op_count >= threshold.least_operators * rank_step.step_count
)
SELECT
    profile,
    rank_id,
    type AS kernel_type,
    op_count AS count,
    time_ns,
    win_ns,
    small_count::BIGINT AS small_count,
    packet_count::BIGINT AS packet_count,
    small_bytes::BIGINT AS packet_bytes,
    small_rate AS small_gb_s,
    if(lost_ns IS NULL, NULL, best_rate) AS best_gb_s,
    coalesce(candidate.is_in_modules, false) AS is_in_modules
FROM candidate
WHERE time_ns > 0
