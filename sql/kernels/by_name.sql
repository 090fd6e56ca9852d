-- One row is a kind, name, type and core of kernels, with their number and times, the largest total time first; with --filter,
-- only those whose name or type it chooses.
--
-- kind          ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- name_id       TEXT_ID  name of the kernels
-- type_id       TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- core_id       TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- kernel_count  BIGINT   kernels
-- total_ns      BIGINT   their time, ns; overlapping kernels count fully
-- share         DOUBLE   share of the kernel time of the same kind in the rank; NULL when that is 0
-- mean_ns       DOUBLE   mean time of a kernel, ns
-- stddev_ns     DOUBLE   standard deviation of the times, ns
-- min_ns        BIGINT   shortest time, ns
-- q1_ns         BIGINT   the smallest time that at least a quarter of the kernels do not exceed, ns
-- median_ns     BIGINT   the same for half of the kernels, ns
-- q3_ns         BIGINT   the same for three quarters of the kernels, ns
-- p95_ns        BIGINT   the same for 95 % of the kernels, ns
-- max_ns        BIGINT   longest time, ns
WITH counted_duration AS (
    SELECT kind, name_id, type_id, core_id, duration_ns, sum(kernel_count) AS row_count
    FROM kernels.shape_duration
    GROUP BY ALL
)
SELECT
    unnest(key),
    row_count AS kernel_count,
    total_ns,
    total_ns / nullif(sum(total_ns) OVER (PARTITION BY key.kind), 0) AS share,
    unnest(spread)
FROM statistic_of(counted_duration, {'kind': kind, 'name_id': name_id, 'type_id': type_id, 'core_id': core_id})
LEFT JOIN trace.string AS name ON name.text_id = key.name_id
LEFT JOIN trace.string AS type ON type.text_id = key.type_id
LEFT JOIN trace.string AS core ON core.text_id = key.core_id
QUALIFY is_chosen(name.text) OR is_chosen(type.text)
ORDER BY total_ns DESC, key.kind, name.text, type.text, core.text
