-- One row is a kind, name, type and core of kernels, with their number and times over all ranks, the largest total time first;
-- with --filter, only those whose name or type it chooses.
--
-- kind          VARCHAR  compute, communication, copy or schedule
-- name          VARCHAR  name of the kernels
-- type          VARCHAR  operator type, such as MatMulV3; NULL when it is not known
-- core          VARCHAR  cores they ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- kernel_count  BIGINT   kernels
-- total_ns      BIGINT   their time, ns; overlapping kernels count fully
-- share         DOUBLE   part of the kernel time of the same kind over all ranks; NULL when that is 0
-- @columns mean_ns to max_ns as in kernels.by_name
WITH counted_duration AS (
    SELECT kind, name, type, core, duration_ns, sum(kernel_count) AS row_count
    FROM kernels.shape_duration
    GROUP BY ALL
)
SELECT
    unnest(key),
    row_count AS kernel_count,
    total_ns,
    total_ns / nullif(sum(total_ns) OVER (PARTITION BY key.kind), 0) AS share,
    unnest(spread)
FROM statistic_of(counted_duration, {'kind': kind, 'name': name, 'type': type, 'core': core})
QUALIFY is_chosen(key.name) OR is_chosen(key.type)
ORDER BY total_ns DESC, key.kind, key.name, key.type, key.core
