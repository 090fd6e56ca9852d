-- One row is a kind, type and core of kernels with their number and times over all ranks, the heaviest first; with --filter,
-- only types that it chooses.
--
-- @sum kernel_count, total_ns
--
-- kind          VARCHAR  kind of the kernels: compute, communication, copy or schedule
-- @columns type to max_ns as in kernels.statistic
-- share         DOUBLE   part of the kernel time of the same kind over all ranks; NULL when the kind took no time
-- type_from     VARCHAR  where the type comes from: profile, or name (Level0: the name of the kernel); NULL without type
WITH counted_duration AS (
    SELECT
        kind,
        type,
        type_from,
        core,
        duration_ns,
        kernel_count AS row_count,
        coalesce(total_ns, duration_ns * kernel_count) AS kernels_ns,
        coalesce(duration_ns, min_ns) AS shortest_ns,
        coalesce(duration_ns, max_ns) AS longest_ns
    FROM kernels.duration
),
total AS (
    SELECT unnest(key), row_count AS kernel_count, spread, unnest(more)
    FROM statistic_of(
        counted_duration,
        {'kind': kind, 'type': type, 'type_from': type_from, 'core': core},
        {
            'total_ns': sum(kernels_ns)::BIGINT,
            'is_counted': count(*) = count(duration_ns),
            'min_ns': min(shortest_ns),
            'max_ns': max(longest_ns)
        }
    )
)
SELECT
    kind,
    type,
    core,
    kernel_count,
    total_ns,
    total_ns / kernel_count AS mean_ns,
    if(is_counted, spread.median_ns, NULL) AS median_ns,
    if(is_counted, spread.p95_ns, NULL) AS p95_ns,
    min_ns,
    max_ns,
    total_ns / nullif(sum(total_ns) OVER (PARTITION BY kind), 0) AS share,
    type_from
FROM total
QUALIFY is_chosen(type)
ORDER BY total_ns DESC, kind, type, type_from, core
