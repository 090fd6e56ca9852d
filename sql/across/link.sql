-- One row is a pair of ranks and a link between them, with the bytes moved over it and whether it is slow, by all groups and
-- types of operators, slow ones first. Where the ranks in the whole job are not known, a row is of one group.
--
-- @sum transfer_count, size_bytes, duration_ns, lost_ns
--
-- profile                  VARCHAR  the folder of the rank that recorded the transfers
-- rank_id                  INTEGER  this rank; NULL when the files name none
-- source_global_rank       BIGINT   rank of the source in the whole job; NULL when not known
-- destination_global_rank  BIGINT   rank of the destination in the whole job; the source itself within a device; NULL when not
--                                   known
-- link                     VARCHAR  the link, such as HCCS; ON_CHIP within a device; NULL when not recorded
-- is_within_device         BOOLEAN  whether the data stays within the device
-- group_name               VARCHAR  the group of ranks where a rank in the whole job is not known; NULL else
-- source_rank              BIGINT   rank within this group; NULL without it
-- destination_rank         BIGINT   rank within this group; NULL without it
-- groups                   VARCHAR  purposes of the groups, or their names, joined by ', '; NULL when not recorded
-- transfer_count           BIGINT   packets; NULL when origin is profiler
-- size_bytes               BIGINT   bytes moved
-- duration_ns              BIGINT   time of the transfers, ns; overlapping transfers count fully
-- bandwidth_gb_s           DOUBLE   size_bytes / duration_ns, GB/s; NULL when it took no time
-- usual_gb_s               DOUBLE   the bandwidth that other pairs have with packets of the same sizes, GB/s: bytes / expected
--                                   time, where there are other pairs; NULL without any
-- usual_share              DOUBLE   bandwidth as part of the usual one, over transfers that other pairs have too: expected time
--                                   / time; NULL without any
-- lost_ns                  BIGINT   time of these transfers beyond that at the usual bandwidth, ns; NULL without any
-- is_slow                  BOOLEAN  whether usual_share is below 0.8, and further below the median of all pairs than chance
--                                   explains: by 4.45 times the median deviation, which is three standard deviations of a
--                                   normal distribution; NULL when usual_share is
-- is_opposite_recorded     BOOLEAN  whether the other rank recorded transfers to this one; NULL within a device, and when a
--                                   rank is not known
-- origin                   VARCHAR  where the figures come from: planes (the tasks of the operators), or profiler
--                                   (communication_matrix.json, analysis.db)
WITH packet AS (
    SELECT
        *,
        source_global_rank IS NOT NULL AND destination_global_rank IS NOT NULL AS is_known,
        coalesce(group_label, group_name) AS shown_group
    FROM across.link_packet
),
link AS (
    SELECT
        profile,
        rank_id,
        source_global_rank,
        destination_global_rank,
        link,
        is_within_device,
        if(is_known, NULL, group_name) AS group_name,
        if(is_known, NULL, source_rank) AS source_rank,
        if(is_known, NULL, destination_rank) AS destination_rank,
        string_agg(DISTINCT shown_group, ', ' ORDER BY shown_group) AS groups,
        sum(transfer_count)::BIGINT AS transfer_count,
        sum(size_bytes)::BIGINT AS size_bytes,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(size_bytes) FILTER (expected_ns > 0) AS compared_bytes,
        sum(duration_ns) FILTER (expected_ns > 0) AS compared_ns,
        sum(expected_ns) FILTER (expected_ns > 0) AS expected_ns,
        origin
    FROM packet
    GROUP BY ALL
),
rated AS (
    SELECT *, expected_ns / compared_ns AS usual_share
    FROM link
),
spread AS (
    SELECT link, origin, median(usual_share) AS median_share, mad(usual_share) AS deviation
    FROM rated
    WHERE usual_share IS NOT NULL
    GROUP BY link, origin
),
recorded_link AS (
    SELECT DISTINCT source_global_rank, destination_global_rank
    FROM link
    WHERE source_global_rank IS NOT NULL AND destination_global_rank IS NOT NULL
)
SELECT
    rated.profile,
    rated.rank_id,
    rated.source_global_rank,
    rated.destination_global_rank,
    rated.link,
    rated.is_within_device,
    rated.group_name,
    rated.source_rank,
    rated.destination_rank,
    rated.groups,
    rated.transfer_count,
    rated.size_bytes,
    rated.duration_ns,
    rated.size_bytes / nullif(rated.duration_ns, 0) AS bandwidth_gb_s,
    rated.compared_bytes / rated.expected_ns AS usual_gb_s,
    rated.usual_share,
    (rated.compared_ns - rated.expected_ns)::BIGINT AS lost_ns,
    rated.usual_share < least(0.8, spread.median_share - 4.45 * spread.deviation) AS is_slow,
    if(
        rated.is_within_device OR rated.source_global_rank IS NULL OR rated.destination_global_rank IS NULL,
        NULL,
        opposite.source_global_rank IS NOT NULL
    ) AS is_opposite_recorded,
    rated.origin
FROM rated
LEFT JOIN spread ON spread.link IS NOT DISTINCT FROM rated.link AND spread.origin = rated.origin
LEFT JOIN recorded_link AS opposite
    ON opposite.source_global_rank = rated.destination_global_rank
    AND opposite.destination_global_rank = rated.source_global_rank
ORDER BY
    is_slow DESC NULLS LAST,
    lost_ns DESC NULLS LAST,
    rated.is_within_device,
    rated.size_bytes DESC,
    rated.source_global_rank,
    rated.destination_global_rank,
    rated.link,
    rated.profile,
    rated.group_name,
    rated.source_rank,
    rated.destination_rank
