-- One row is a kind, type and core of kernels with their number and times over all ranks, the heaviest first; with --filter,
-- only types that it chooses.
--
-- @sum kernel_count, total_ns
--
-- kind          VARCHAR  kind of the kernels: compute, communication, copy or schedule
-- @columns type to max_ns as in kernels.statistic
-- share         DOUBLE   part of the kernel time of the same kind over all ranks; NULL when the kind took no time
-- type_from     VARCHAR  where the type comes from: profile, or name (Level0: the name of the kernel); NULL without type
WITH duration AS (
    SELECT
        kind,
        type,
        type_from,
        core,
        duration_ns,
        sum(kernel_count) AS kernel_count,
        sum(total_ns) AS total_ns,
        min(min_ns) AS min_ns,
        max(max_ns) AS max_ns
    FROM kernels.duration
    GROUP BY kind, type, type_from, core, duration_ns
),
ranked AS (
    SELECT
        *,
        sum(kernel_count) OVER (PARTITION BY kind, type, type_from, core ORDER BY duration_ns) AS kernels_up_to,
        sum(kernel_count) OVER (PARTITION BY kind, type, type_from, core) AS kernels
    FROM duration
),
total AS (
    SELECT
        kind,
        type,
        type_from,
        core,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(coalesce(total_ns, duration_ns * kernel_count))::BIGINT AS total_ns,
        if(count(*) = count(duration_ns), nearest_rank(duration_ns, kernels_up_to, kernels, 50), NULL) AS median_ns,
        if(count(*) = count(duration_ns), nearest_rank(duration_ns, kernels_up_to, kernels, 95), NULL) AS p95_ns,
        min(coalesce(duration_ns, min_ns)) AS min_ns,
        max(coalesce(duration_ns, max_ns)) AS max_ns
    FROM ranked
    GROUP BY kind, type, type_from, core
)
SELECT
    kind,
    type,
    core,
    kernel_count,
    total_ns,
    total_ns / kernel_count AS mean_ns,
    median_ns,
    p95_ns,
    min_ns,
    max_ns,
    total_ns / nullif(sum(total_ns) OVER (PARTITION BY kind), 0) AS share,
    type_from
FROM total
QUALIFY is_chosen(type)
ORDER BY total_ns DESC, kind, type, type_from, core
