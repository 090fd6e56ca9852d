-- One row is a type and group of communication operators with their number and times over all ranks, the heaviest first.
--
-- type to max_ns as in communication.statistic
-- share          DOUBLE   part of the communication time of all ranks; NULL when it took no time
WITH duration AS (
    SELECT type, group_name, duration_ns, sum(op_count) AS op_count
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
        max(duration_ns) AS max_ns
    FROM ranked
    GROUP BY type, group_name
)
SELECT
    type,
    group_name,
    op_count,
    total_ns,
    total_ns / op_count AS mean_ns,
    median_ns,
    p95_ns,
    min_ns,
    max_ns,
    total_ns / nullif(sum(total_ns) OVER (), 0) AS share
FROM total
ORDER BY total_ns DESC, type, group_name
