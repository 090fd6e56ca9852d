-- One row is a type and group of operators, a pair of ranks, a link and a size of packets, and the data moved between the two
-- ranks in packets of this size. A packet is the data that one task moves. With a step chosen, only data of the operators of
-- that step.
--
-- kind              VARCHAR  p2p (send and receive) or collective
-- type              VARCHAR  type of the operators, such as allreduce; NULL when not known
-- group_name        VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- source_rank       BIGINT   rank within the group; NULL when not recorded
-- destination_rank  BIGINT   rank within the group; the source itself within a device; NULL when not recorded
-- link              VARCHAR  the link, such as HCCS; ON_CHIP within a device; NULL when not recorded
-- is_within_device  BOOLEAN  whether the data stays within the device
-- packet_bytes      BIGINT   size of the packets, bytes: from this power of two to the next one; 0 for empty ones; NULL when
--                            origin is profiler
-- transfer_count    BIGINT   packets; NULL when origin is profiler
-- size_bytes        BIGINT   bytes moved
-- duration_ns       BIGINT   time of the transfers on all planes, ns; overlapping transfers count fully
-- origin            VARCHAR  where the figures come from: planes (the tasks of the operators), or profiler
--                            (communication_matrix.json, analysis.db)
-- longest_ns        BIGINT   time of the longest transfer, ns; NULL when origin is profiler
-- unaligned_count   BIGINT   packets of more than 512 bytes, but no multiple of 512 bytes; NULL when origin is profiler
-- unaligned_bytes   BIGINT   bytes that they moved; NULL when origin is profiler
-- unaligned_ns      BIGINT   their part of duration_ns, ns; NULL when origin is profiler
WITH transfer AS (
    SELECT
        kernel_id,
        source_rank,
        destination_rank,
        link,
        kind = 'copy' AS is_within_device,
        transfer_count,
        size_bytes,
        duration_ps,
        size_bytes // transfer_count AS packet,
        packet > 512 AND packet & 511 > 0 AS is_unaligned
    FROM communication.activity
    WHERE kind <> 'wait' AND size_bytes IS NOT NULL
),
of_planes AS (
    SELECT
        breakdown.kind,
        breakdown.operation AS type,
        breakdown.group_name,
        transfer.source_rank,
        transfer.destination_rank,
        transfer.link,
        transfer.is_within_device,
        power_below(packet) AS packet_bytes,
        sum(transfer.transfer_count)::BIGINT AS transfer_count,
        sum(transfer.size_bytes)::BIGINT AS size_bytes,
        ns_of_ps(sum(transfer.duration_ps)) AS duration_ns,
        'planes' AS origin,
        ns_of_ps(max(transfer.duration_ps)) AS longest_ns,
        coalesce(sum(transfer.transfer_count) FILTER (is_unaligned), 0)::BIGINT AS unaligned_count,
        coalesce(sum(transfer.size_bytes) FILTER (is_unaligned), 0)::BIGINT AS unaligned_bytes,
        ns_of_ps(coalesce(sum(transfer.duration_ps) FILTER (is_unaligned), 0)) AS unaligned_ns
    FROM transfer
    JOIN communication.breakdown USING (kernel_id)
    GROUP BY ALL
),
packet AS (
    FROM of_planes
    UNION ALL BY NAME
    SELECT
        kind,
        type,
        group_name,
        source_rank,
        destination_rank,
        link,
        source_rank IS NOT DISTINCT FROM destination_rank AS is_within_device,
        sum(size_bytes)::BIGINT AS size_bytes,
        sum(duration_ns)::BIGINT AS duration_ns,
        'profiler' AS origin
    FROM trace.reported_link
    WHERE NOT EXISTS (FROM of_planes) AND (getvariable('step_id') IS NULL OR step_id = getvariable('step_id'))
    GROUP BY ALL
)
SELECT
    kind,
    type,
    group_name,
    source_rank,
    destination_rank,
    link,
    is_within_device,
    packet_bytes,
    transfer_count,
    size_bytes,
    duration_ns,
    origin,
    longest_ns,
    unaligned_count,
    unaligned_bytes,
    unaligned_ns
FROM packet
