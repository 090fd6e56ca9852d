-- One row is a type of collectives of a rank that move much in small packets, and so reach less than the bandwidth of their
-- links.
-- Requires transfers.
--
-- profile to sql as in advice.finding_of_rank
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
judged AS (
    SELECT
        exposed.*,
        small.* EXCLUDE (profile, operation, transfer_count, duration_ns),
        small.transfer_count AS packet_count,
        round(exposed.transferring_ns * small.small_ns / small.duration_ns)::BIGINT AS time_ns,
        round(exposed.transferring_ns * small.lost_ns / small.duration_ns)::BIGINT AS win_ns
    FROM exposed
    JOIN small USING (profile, operation)
    JOIN across.rank_step USING (profile)
    CROSS JOIN threshold
    WHERE small.small_count >= threshold.least_share * small.transfer_count
      AND exposed.op_count >= threshold.least_operators * rank_step.step_count
)
SELECT
    profile,
    rank_id,
    'Small messages use little of the bandwidth' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    type AS kernel_type,
    concat(
        format(
            '{} of {} packets are small, {} bytes on average, and move {:.2f} GB/s',
            small_count,
            packet_count,
            format('{:,}', small_bytes::BIGINT),
            small_rate
        ),
        if(
            lost_ns IS NULL,
            '; no large packets here show what their links can do',
            format(', large ones up to {:.2f} GB/s', best_rate)
        ),
        format('; {} operators transfer for {} in small packets without computing', op_count, shown_time(time_ns))
    ) AS evidence,
    op_count AS count,
    time_ns,
    win_ns,
    if(win_ns IS NULL, 'hint', 'upper bound') AS kind,
    if(
        coalesce(is_in_modules, false),
        'They lie between layers, so they cannot be one: give each more (larger micro-batches or batches of requests), use '
        || 'fewer tensor parallel ranks, or operators that communicate and multiply at once; HCCL_OP_EXPANSION_MODE=AIV '
        || 'shortens small ones on Ascend.',
        'Send several at once: larger buckets of gradients (bucket_cap_mb of DDP, --ddp-bucket-size of Megatron), one flat '
        || 'tensor for many small ones (torch.distributed.all_reduce_coalesced), fewer single values (losses, metrics).'
    ) AS what_to_do,
    'docs/rules.md#small-messages' AS doc,
    'SELECT duration_ns, size_bytes, packet_bytes, type, rank_id FROM communication.packet '
    || 'ORDER BY duration_ns DESC LIMIT 50' AS sql
FROM judged
WHERE time_ns > 0
