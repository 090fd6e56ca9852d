-- One row is a type and group of operators, a pair of ranks, a link and a size of packets over all ranks, with the bandwidth
-- beside that of other pairs, those that lose most time first. The usual bandwidth is the median of all pairs with the same
-- type, link, size of packets (where it is not recorded, of all bytes), and number of other ranks to which a rank of the group
-- moves data. Packets below 64 KiB have no usual bandwidth: they take as long as the latency of the link.
--
-- @sum transfer_count, size_bytes, duration_ns, expected_ns, lost_ns
--
-- profile                  VARCHAR  the folder of the rank that recorded the transfers
-- rank_id                  INTEGER  this rank; NULL when the files name none
-- @columns kind to group_name as in communication.packet
-- group_label              VARCHAR  purpose of the group in the training framework, such as pp, dp or default_group; NULL when
--                                   not recorded
-- source_rank              BIGINT   rank within the group; NULL when not recorded
-- destination_rank         BIGINT   rank within the group; the source itself within a device; NULL when not recorded
-- source_global_rank       BIGINT   rank of the source in the whole job; NULL when not known
-- destination_global_rank  BIGINT   rank of the destination in the whole job; NULL when neither the group is recorded nor the
--                                   destination has transfers of the group here
-- @columns link to packet_bytes as in communication.packet
-- @columns transfer_count to duration_ns as in communication.packet
-- bandwidth_gb_s           DOUBLE   size_bytes / duration_ns, GB/s; NULL when it took no time
-- usual_gb_s               DOUBLE   the median over such pairs, GB/s; NULL within a device, below 64 KiB, and of fewer
--                                   than three pairs
-- expected_ns              BIGINT   the time at the usual bandwidth, ns; NULL without one
-- lost_ns                  BIGINT   duration_ns - expected_ns; below 0 where the pair is faster; NULL without a usual bandwidth
-- origin                   VARCHAR  where the figures come from, as in communication.packet
WITH label AS (
    SELECT profile, group_name, min(label) AS label
    FROM communication.member
    GROUP BY profile, group_name
    HAVING count(DISTINCT label) = 1
),
own_position AS (
    SELECT profile, rank_id, group_name, min(source_rank) AS position
    FROM communication.packet
    -- Older text exports only number the groups, and each rank numbers its own.
    WHERE rank_id IS NOT NULL AND NOT regexp_full_match(group_name, '\d{1,4}')
    GROUP BY profile, rank_id, group_name
    HAVING count(DISTINCT source_rank) = 1
),
seen_rank AS (
    SELECT group_name, position, min(rank_id) AS global_rank
    FROM own_position
    GROUP BY group_name, position
    HAVING count(DISTINCT rank_id) = 1
),
placed_packet AS (
    SELECT
        packet.*,
        label.label AS group_label,
        coalesce(source.global_rank, packet.rank_id)::BIGINT AS source_global_rank,
        coalesce(
            destination.global_rank, if(packet.is_within_device, packet.rank_id, NULL), seen_rank.global_rank
        )::BIGINT AS destination_global_rank,
        size_bytes / nullif(duration_ns, 0) AS bandwidth_gb_s
    FROM communication.packet
    LEFT JOIN label ON label.profile = packet.profile AND label.group_name = packet.group_name
    LEFT JOIN communication.member AS source
        ON source.profile = packet.profile
        AND source.group_name = packet.group_name
        AND source.position = packet.source_rank
    LEFT JOIN communication.member AS destination
        ON destination.profile = packet.profile
        AND destination.group_name = packet.group_name
        AND destination.position = packet.destination_rank
    LEFT JOIN seen_rank ON seen_rank.group_name = packet.group_name AND seen_rank.position = packet.destination_rank
),
-- In a send or receive two ranks have the link for themselves.
reach AS (
    SELECT profile, group_name, type, if(kind = 'p2p', 1, count(DISTINCT destination_rank)) AS peer_count
    FROM communication.packet
    WHERE NOT is_within_device
    GROUP BY profile, group_name, kind, type
),
alike AS (
    SELECT placed_packet.*, reach.peer_count, coalesce(packet_bytes, power_below(size_bytes)) AS size_class
    FROM placed_packet
    LEFT JOIN reach
        ON reach.profile = placed_packet.profile
        AND reach.group_name IS NOT DISTINCT FROM placed_packet.group_name
        AND reach.type IS NOT DISTINCT FROM placed_packet.type
),
usual AS (
    SELECT origin, link, type, size_class, peer_count, quantile_disc(bandwidth_gb_s, 0.5) AS usual_gb_s
    FROM alike
    WHERE NOT is_within_device AND bandwidth_gb_s > 0 AND size_class >= 65536
    GROUP BY origin, link, type, size_class, peer_count
    HAVING count(DISTINCT (profile, source_rank, destination_rank, destination_global_rank)) > 2
)
SELECT
    alike.profile,
    alike.rank_id,
    alike.kind,
    alike.type,
    alike.group_name,
    alike.group_label,
    alike.source_rank,
    alike.destination_rank,
    alike.source_global_rank,
    alike.destination_global_rank,
    alike.link,
    alike.is_within_device,
    alike.packet_bytes,
    alike.transfer_count,
    alike.size_bytes,
    alike.duration_ns,
    alike.bandwidth_gb_s,
    usual.usual_gb_s,
    round(alike.size_bytes / usual.usual_gb_s)::BIGINT AS expected_ns,
    alike.duration_ns - expected_ns AS lost_ns,
    alike.origin
FROM alike
LEFT JOIN usual
    ON usual.origin = alike.origin
    AND usual.link IS NOT DISTINCT FROM alike.link
    AND usual.type IS NOT DISTINCT FROM alike.type
    AND usual.size_class = alike.size_class
    AND usual.peer_count = alike.peer_count
    AND NOT alike.is_within_device
ORDER BY
    lost_ns DESC NULLS LAST,
    alike.duration_ns DESC,
    alike.profile,
    alike.group_name,
    alike.type,
    alike.source_rank,
    alike.destination_rank,
    alike.link,
    alike.packet_bytes
