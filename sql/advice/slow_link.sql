-- One row is a rank with links to other ranks that are slower than other links of their kind with the same packets.
--
-- @title A link is slower than others of its kind
-- @evidence from rank {source_rank} to rank {destination_rank} over {link}: {bandwidth_gb_s:.1f} GB/s, other pairs
--     {usual_gb_s:.1f} GB/s with the same packets; that costs {time_ns} of {duration_ns}[ over {link_count} such links][;
--     computing covers all but {exposed_ns} of communication]
-- @kind upper bound
-- @remedy Check this link and both devices: errors and speed of the port (<<hccn_tool, npu-smi||nvidia-smi nvlink>>), cables
--     and optical modules, other jobs on the same switch; else exchange the device and record again.
-- @query SELECT lost_ns, bandwidth_gb_s, usual_gb_s, source_rank, destination_rank FROM across.link WHERE is_slow ORDER BY
--     lost_ns DESC LIMIT 20
-- @counts transfers
-- @requires transfers | reported_communication
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- source_rank       BIGINT   of the link that costs most, the rank that sends
-- destination_rank  BIGINT   the rank that receives
-- link              VARCHAR  kind of the link
-- bandwidth_gb_s    DOUBLE   its bandwidth, GB/s
-- usual_gb_s        DOUBLE   that of other pairs with the same packets, GB/s
-- duration_ns       BIGINT   time of the transfers of all slow links, ns
-- link_count        BIGINT   slow links; NULL when it is one
-- exposed_ns        BIGINT   communication that computing does not cover, ns; NULL when it is no less than what the links cost
--
-- A pair of ranks whose link moves packets of the same size, kind and type at less than 80 % of what other pairs reach, and
-- further below them than chance explains (`prof-analysis links`), among three pairs or more. The win is the time beyond that
-- at the usual bandwidth, but at most the communication of this rank without computing. It is an **upper bound**.
WITH slow AS (
    SELECT
        profile,
        rank_id,
        count(*) AS link_count,
        sum(transfer_count)::BIGINT AS transfer_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(lost_ns)::BIGINT AS lost_ns,
        arg_max(
            struct_pack(
                source := coalesce(source_global_rank, source_rank),
                destination := coalesce(destination_global_rank, destination_rank),
                link := link,
                bandwidth := bandwidth_gb_s,
                usual := usual_gb_s
            ),
            (lost_ns, source_rank, destination_rank, link)
        ) AS worst
    FROM across.link
    WHERE is_slow AND lost_ns > 0
    GROUP BY profile, rank_id
),
exposed_time AS (
    SELECT profile, sum(communication_not_overlapped_ns)::BIGINT AS exposed_ns
    FROM step.time
    WHERE stage_ns IS NOT NULL OR origin = 'profiler'
    GROUP BY profile
)
SELECT
    slow.profile,
    slow.rank_id,
    transfer_count AS count,
    lost_ns AS time_ns,
    least(lost_ns, coalesce(exposed_ns, lost_ns)) AS win_ns,
    worst.source AS source_rank,
    worst.destination AS destination_rank,
    worst.link,
    worst.bandwidth AS bandwidth_gb_s,
    worst.usual AS usual_gb_s,
    duration_ns,
    if(link_count > 1, link_count, NULL) AS link_count,
    if(exposed_ns < lost_ns, exposed_ns, NULL) AS exposed_ns
FROM slow
LEFT JOIN exposed_time USING (profile)
