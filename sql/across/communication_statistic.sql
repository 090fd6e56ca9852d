-- One row is a type and group of communication operators with their number and times over all ranks, the heaviest first.
--
-- @sum op_count, total_ns
--
-- @columns type to max_ns as in communication.statistic
-- share          DOUBLE   part of the communication time of all ranks; NULL when it took no time
-- group_label    VARCHAR  purpose of the group, such as tp, dp or default_pg; NULL when not recorded
-- group_size     BIGINT   ranks of the group; NULL when not recorded
-- @columns size_bytes to bus_gb_s as in communication.statistic
WITH duration AS (
    SELECT
        type,
        group_name,
        duration_ns,
        min(operation) AS operation,
        sum(op_count) AS op_count,
        sum(sized_count) AS sized_count,
        sum(size_bytes) AS size_bytes
    FROM communication.duration
    GROUP BY type, group_name, duration_ns
),
ranked AS (
    SELECT
        *,
        sum(op_count) OVER (PARTITION BY type, group_name ORDER BY duration_ns) AS ops_up_to,
        sum(op_count) OVER (PARTITION BY type, group_name) AS ops
    FROM duration
),
total AS (
    SELECT
        type,
        group_name,
        sum(op_count)::BIGINT AS op_count,
        sum(duration_ns * op_count)::BIGINT AS total_ns,
        nearest_rank(duration_ns, ops_up_to, ops, 50) AS median_ns,
        nearest_rank(duration_ns, ops_up_to, ops, 95) AS p95_ns,
        min(duration_ns) AS min_ns,
        max(duration_ns) AS max_ns,
        min(operation) AS operation,
        TRY_CAST(sum(size_bytes) AS BIGINT) AS size_bytes,
        sum(duration_ns * sized_count) AS sized_ns
    FROM ranked
    GROUP BY type, group_name
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
    median_ns,
    p95_ns,
    min_ns,
    max_ns,
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
