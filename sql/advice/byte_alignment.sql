-- One row is a type of communication operators of a rank that move packets whose size is no multiple of 512 bytes.
--
-- @guard communication.packet
-- @title Packets are not aligned
-- @evidence (no win_ns) {count} packets have such a size and move {rate_gb_s:.2f} GB/s, for {time_ns} without computing; no
--     other packets of their size are here to compare
-- @evidence {count} packets have such a size and move {rate_gb_s:.2f} GB/s, for {time_ns} without computing; at the rate of
--     other packets of their size they take {win_ns} less
-- @kind (no win_ns) hint
-- @kind upper bound
-- @remedy Pad what is sent so that the share of each rank is a multiple of 512 bytes: a number of elements that 256 x ranks
--     divides in BF16 (padding of vocabulary and buckets).
-- @query SELECT unaligned_ns, unaligned_count, packet_bytes, type, rank_id FROM communication.packet WHERE unaligned_count > 0
--     ORDER BY unaligned_ns DESC LIMIT 50
-- @counts transfers
-- @requires transfers
--
-- @columns profile to rank_id, kernel_type, count to win_ns as in advice.finding_of_rank
-- rate_gb_s  DOUBLE  rate at which they move, GB/s
--
-- Packets on links within a node whose size is above 512 bytes and no multiple of 512 bytes (msprof-analyze has the same rule).
-- The win is the time that they take longer than aligned packets of about the same size on that link: on real profiles 2 to 7
-- %, often nothing, and then there is no finding. It is an **upper bound**, or a **hint** if there are no aligned packets of
-- that size.
WITH packet AS (
    SELECT
        profile,
        type AS operation,
        link,
        packet_bytes,
        sum(size_bytes - unaligned_bytes) / nullif(sum(duration_ns - unaligned_ns), 0) AS aligned_rate,
        sum(unaligned_count) AS unaligned_count,
        sum(unaligned_bytes) AS unaligned_bytes,
        sum(unaligned_ns) AS unaligned_ns,
        sum(duration_ns) AS duration_ns
    FROM communication.packet
    WHERE NOT is_within_device AND coalesce(link <> 'RDMA', true) AND unaligned_count IS NOT NULL
    GROUP BY ALL
),
-- Aligned packets of the same size and link, over all ranks.
aligned AS (
    SELECT operation, link, packet_bytes, max(aligned_rate) AS aligned_rate
    FROM packet
    GROUP BY operation, link, packet_bytes
),
unaligned AS (
    SELECT
        packet.profile,
        packet.operation,
        sum(unaligned_count)::BIGINT AS unaligned_count,
        sum(unaligned_ns) AS unaligned_ns,
        sum(duration_ns) AS duration_ns,
        sum(unaligned_bytes) / nullif(sum(unaligned_ns), 0) AS unaligned_rate,
        if(
            count(*) FILTER (unaligned_count > 0 AND aligned.aligned_rate IS NULL) > 0,
            NULL,
            sum(greatest(0, unaligned_ns - unaligned_bytes / aligned.aligned_rate))
        ) AS lost_ns
    FROM packet
    LEFT JOIN aligned
        ON aligned.operation IS NOT DISTINCT FROM packet.operation
        AND aligned.link IS NOT DISTINCT FROM packet.link
        AND aligned.packet_bytes = packet.packet_bytes
    GROUP BY packet.profile, packet.operation
),
exposed AS (
    SELECT
        profile,
        rank_id,
        operation,
        min(type) AS type,
        sum(coalesce(transferring_ns, 0) + unknown_ns) AS transferring_ns
    FROM communication.exposed
    GROUP BY profile, rank_id, operation
),
candidate AS (
    SELECT
        exposed.profile,
        exposed.rank_id,
        exposed.type,
        unaligned.unaligned_count,
        unaligned.unaligned_rate,
        unaligned.lost_ns,
        round(transferring_ns * unaligned_ns / duration_ns)::BIGINT AS time_ns,
        round(transferring_ns * lost_ns / duration_ns)::BIGINT AS win_ns
    FROM exposed
    JOIN unaligned ON unaligned.profile = exposed.profile AND unaligned.operation IS NOT DISTINCT FROM exposed.operation
    WHERE unaligned_ns > 0
)
SELECT
    profile,
    rank_id,
    type AS kernel_type,
    unaligned_count AS count,
    time_ns,
    win_ns,
    unaligned_rate AS rate_gb_s
FROM candidate
WHERE time_ns > 0 AND coalesce(win_ns > 0, true)
