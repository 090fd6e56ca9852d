-- One row is a type and group of operators, a pair of ranks and a link, and what was moved between them, most first. With a step
-- chosen, only what the operators of that step moved.
--
-- type              VARCHAR  type of the operators, such as allreduce; NULL when nothing tells it
-- group_name        VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- source_rank       BIGINT   rank within the group; NULL when not recorded
-- destination_rank  BIGINT   rank within the group, the same one within a device; NULL when not recorded
-- link              VARCHAR  the link, such as HCCS; ON_CHIP within a device
-- op_count          BIGINT   operators that moved something; NULL when only communication_matrix.json or analysis.db tell of them
-- transfer_count    BIGINT   transfers; NULL when only communication_matrix.json or analysis.db tell of them
-- size_bytes        BIGINT   what was moved
-- duration_ns       BIGINT   time of the transfers on all planes, ns; those at the same time count fully
-- bandwidth_gb_s    DOUBLE   size_bytes / duration_ns, GB/s; NULL when it took no time
-- origin            VARCHAR  what tells it: planes (the tasks of the operators), or profiler (communication_matrix.json, analysis.db)
WITH of_planes AS (
    SELECT
        lower(regexp_extract(split.type, '(?i)^(?:hcom_)?([a-z]+)', 1)) AS type,
        split.group_name,
        transfer.source_rank,
        transfer.destination_rank,
        transfer.link,
        count(*) AS op_count,
        sum(transfer.transfer_count)::BIGINT AS transfer_count,
        sum(transfer.size_bytes)::BIGINT AS size_bytes,
        ns_of_ps(sum(transfer.duration_ps)) AS duration_ns,
        'planes' AS origin
    FROM communication.transfer
    JOIN communication.split USING (kernel_id)
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
    FROM trace.recorded_link
    WHERE NOT EXISTS (FROM of_planes) AND (getvariable('step_id') IS NULL OR step_id = getvariable('step_id'))
    GROUP BY ALL
)
SELECT
    type,
    group_name,
    source_rank,
    destination_rank,
    link,
    op_count,
    transfer_count,
    size_bytes,
    duration_ns,
    size_bytes / nullif(duration_ns, 0) AS bandwidth_gb_s,
    origin
FROM link
ORDER BY size_bytes DESC, type, group_name, source_rank, destination_rank, link
