-- One row is a type and group of operators, a pair of ranks and a link, and the data moved between the two ranks, the most
-- bytes first. With a step chosen, only data of the operators of that step.
--
-- @sum transfer_count, size_bytes, duration_ns
--
-- type                     VARCHAR  type of the operators, such as allreduce; NULL when not known
-- group_name               VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- group_label              VARCHAR  purpose of the group in the training framework, such as pp, dp or default_group; NULL when
--                                   not recorded
-- source_rank              BIGINT   rank within the group; NULL when not recorded
-- destination_rank         BIGINT   rank within the group; the source itself within a device; NULL when not recorded
-- source_global_rank       BIGINT   rank of the source in the whole job; NULL when neither the group nor the profile's rank is
--                                   recorded
-- destination_global_rank  BIGINT   rank of the destination in the whole job; NULL when the group is not recorded
-- link                     VARCHAR  the link, such as HCCS; ON_CHIP within a device; NULL when not recorded
-- op_count                 BIGINT   operators that moved something; NULL when origin is profiler
-- transfer_count           BIGINT   tasks that move data; NULL when origin is profiler
-- size_bytes               BIGINT   bytes moved
-- duration_ns              BIGINT   time of the transfers on all planes, ns; overlapping transfers count fully
-- bandwidth_gb_s           DOUBLE   size_bytes / duration_ns, GB/s; NULL when it took no time
-- origin                   VARCHAR  where the figures come from: planes (the tasks of the operators), or profiler
--                                   (communication_matrix.json, analysis.db)
WITH of_planes AS (
    SELECT
        breakdown.operation AS type,
        breakdown.group_name,
        transfer.source_rank,
        transfer.destination_rank,
        transfer.link,
        count(*) AS op_count,
        sum(transfer.transfer_count)::BIGINT AS transfer_count,
        sum(transfer.size_bytes)::BIGINT AS size_bytes,
        ns_of_ps(sum(transfer.duration_ps)) AS duration_ns,
        'planes' AS origin
    FROM communication.transfer
    JOIN communication.breakdown USING (kernel_id)
    GROUP BY ALL
),
link AS (
    FROM of_planes
    UNION ALL BY NAME
    SELECT
        type,
        group_name,
        source_rank,
        destination_rank,
        link,
        sum(size_bytes)::BIGINT AS size_bytes,
        sum(duration_ns)::BIGINT AS duration_ns,
        'profiler' AS origin
    FROM trace.reported_link
    WHERE NOT EXISTS (FROM of_planes) AND (getvariable('step_id') IS NULL OR step_id = getvariable('step_id'))
    GROUP BY ALL
),
label AS (
    SELECT group_name, min(label) AS label
    FROM communication.member
    GROUP BY group_name
    HAVING count(DISTINCT label) = 1
)
SELECT
    link.type,
    link.group_name,
    label.label AS group_label,
    link.source_rank,
    link.destination_rank,
    -- Where the group is not recorded: the source is the rank of the profile.
    coalesce(source.global_rank, getvariable('rank_id'))::BIGINT AS source_global_rank,
    coalesce(
        destination.global_rank, if(link.destination_rank = link.source_rank, getvariable('rank_id'), NULL)
    )::BIGINT AS destination_global_rank,
    link.link,
    op_count,
    transfer_count,
    size_bytes,
    duration_ns,
    size_bytes / nullif(duration_ns, 0) AS bandwidth_gb_s,
    origin
FROM link
LEFT JOIN label USING (group_name)
LEFT JOIN communication.member AS source ON source.group_name = link.group_name AND source.position = link.source_rank
LEFT JOIN communication.member AS destination
    ON destination.group_name = link.group_name AND destination.position = link.destination_rank
ORDER BY size_bytes DESC, type, group_name, source_rank, destination_rank, link.link
