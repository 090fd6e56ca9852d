-- One row is a type and group of communication operators with their number and times over all ranks, the heaviest first.
--
-- @sum op_count, total_ns
--
-- @columns type to max_ns as in communication.statistic
-- share          DOUBLE   part of the communication time of all ranks; NULL when it took no time
-- group_label    VARCHAR  purpose of the group, such as tp, dp or default_pg; NULL when not recorded
-- group_size     BIGINT   ranks of the group; NULL when not recorded
-- @columns size_bytes to bus_gb_s as in communication.statistic
WITH counted_duration AS (
    SELECT * RENAME (op_count AS row_count)
    FROM communication.duration
),
total AS (
    SELECT unnest(key), row_count AS op_count, total_ns, spread, unnest(more)
    FROM statistic_of(
        counted_duration,
        {'type': type, 'group_name': group_name},
        {
            'operation': min(operation),
            'size_bytes': TRY_CAST(sum(size_bytes) AS BIGINT),
            'sized_ns': sum(duration_ns * sized_count)
        }
    )
),
one_group AS (
    SELECT
        type,
        group_name,
        if(count(DISTINCT group_label) = 1, min(group_label), NULL) AS group_label,
        if(count(DISTINCT group_size) = 1, min(group_size), NULL) AS group_size
    FROM communication.statistic
    GROUP BY type, group_name
)
SELECT
    total.type,
    total.group_name,
    op_count,
    total_ns,
    total_ns / op_count AS mean_ns,
    spread.median_ns,
    spread.p95_ns,
    spread.min_ns,
    spread.max_ns,
    total_ns / nullif(sum(total_ns) OVER (), 0) AS share,
    one_group.group_label,
    one_group.group_size,
    size_bytes,
    size_bytes / nullif(sized_ns, 0) AS algorithm_gb_s,
    algorithm_gb_s * bus_factor(operation, one_group.group_size) AS bus_gb_s
FROM total
LEFT JOIN one_group
    ON one_group.type IS NOT DISTINCT FROM total.type AND one_group.group_name IS NOT DISTINCT FROM total.group_name
ORDER BY total_ns DESC, total.type, total.group_name
