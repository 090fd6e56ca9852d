-- One row is a type and group of communication operators with their number and times, the heaviest first.
--
-- @sum op_count, total_ns
--
-- type        VARCHAR  type, such as hcom_allReduce_; where none was collected (Level0), taken from the name; NULL when neither
--                      gives it
-- group_name  VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- op_count    BIGINT   operators
-- total_ns    BIGINT   their time, ns; overlapping operators count fully
-- mean_ns     DOUBLE   mean time of an operator, ns
-- median_ns   BIGINT   the smallest time that at least half of the operators do not exceed, ns
-- p95_ns      BIGINT   the smallest time that at least 95 % of the operators do not exceed, ns
-- min_ns      BIGINT   shortest time, ns
-- max_ns      BIGINT   longest time, ns
-- share       DOUBLE   part of the communication time of the rank; NULL when it took no time
-- origin      VARCHAR  where the times come from: kernels, or profiler (communication.json, analysis.db) for operators whose
--                      name no kernel has
-- group_label     VARCHAR  purpose of the group, such as tp, dp or default_pg; NULL when not recorded
-- group_size      BIGINT   ranks of the group; NULL when not recorded
-- size_bytes      BIGINT   bytes of the operators: for each, the data of a rank before or after it, whichever is more; NULL
--                          when not known for any
-- algorithm_gb_s  DOUBLE   size_bytes / time of the operators with known bytes, GB/s; NULL without any
-- bus_gb_s        DOUBLE   the bandwidth that each rank must have for this, GB/s: algorithm_gb_s times the factor of the
--                          operation for group_size ranks, as nccl-tests defines it; NULL when operation or group_size is not
--                          known
WITH counted_duration AS (
    SELECT * RENAME (op_count AS row_count)
    FROM communication.duration
),
total AS (
    SELECT unnest(key), row_count AS op_count, total_ns, spread, unnest(more)
    FROM statistic_of(
        counted_duration,
        {'type': type, 'group_name': group_name, 'origin': origin},
        {
            'operation': if(count(DISTINCT operation) = 1, min(operation), NULL),
            'group_size': if(count(DISTINCT group_size) = 1, min(group_size), NULL),
            'size_bytes': TRY_CAST(sum(size_bytes) AS BIGINT),
            'sized_ns': sum(duration_ns * sized_count)
        }
    )
),
member AS (
    SELECT group_name, min(label) AS group_label, count(*) AS group_size
    FROM communication.member
    GROUP BY group_name
)
SELECT
    type,
    group_name,
    op_count,
    total_ns,
    total_ns / op_count AS mean_ns,
    spread.median_ns,
    spread.p95_ns,
    spread.min_ns,
    spread.max_ns,
    total_ns / nullif(sum(total_ns) OVER (), 0) AS share,
    origin,
    member.group_label,
    coalesce(total.group_size, member.group_size) AS group_size,
    size_bytes,
    size_bytes / nullif(sized_ns, 0) AS algorithm_gb_s,
    algorithm_gb_s * bus_factor(operation, coalesce(total.group_size, member.group_size)) AS bus_gb_s
FROM total
LEFT JOIN member USING (group_name)
ORDER BY total_ns DESC, type, group_name, origin
