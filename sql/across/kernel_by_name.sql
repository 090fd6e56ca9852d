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
WITH counted AS (
    SELECT kind, name, type, core, duration_ns, sum(kernel_count) AS kernel_count
    FROM kernels.shape_duration
    GROUP BY ALL
),
ranked AS (
    SELECT
        *,
        sum(kernel_count) OVER (alike ORDER BY duration_ns) AS kernels_up_to,
        sum(kernel_count) OVER alike AS kernels
    FROM counted
    WINDOW alike AS (PARTITION BY kind, name, type, core)
),
summed AS (
    SELECT
        kind,
        name,
        type,
        core,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns * kernel_count)::BIGINT AS total_ns,
        spread_of_counted(duration_ns, kernel_count, kernels_up_to, kernels) AS spread
    FROM ranked
    GROUP BY kind, name, type, core
)
SELECT
    kind,
    name,
    type,
    core,
    kernel_count,
    total_ns,
    total_ns / nullif(sum(total_ns) OVER (PARTITION BY kind), 0) AS share,
    unnest(spread)
FROM summed
QUALIFY is_chosen(name) OR is_chosen(type)
ORDER BY total_ns DESC, kind, name, type, core
