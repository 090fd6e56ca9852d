-- One row is a kind, type and core of kernels with their number and times, the largest total time first; with --filter, only
-- types that it chooses. Kernels of unknown type are one row per kind and core.
--
-- @sum kernel_count, total_ns
--
-- kind          ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- type_id       TEXT_ID  operator type, such as MatMulV3 or hcom_allReduce_; NULL when it is not known
-- core_id       TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- kernel_count  BIGINT   kernels
-- total_ns      BIGINT   their time, ns; overlapping kernels count fully
-- mean_ns       DOUBLE   mean time of a kernel, ns
-- median_ns     BIGINT   the smallest time that at least half of the kernels do not exceed, ns; NULL where op_statistic.csv
--                        alone reports them
-- p95_ns        BIGINT   the smallest time that at least 95 % of the kernels do not exceed, ns; NULL as median_ns
-- min_ns        BIGINT   shortest time, ns; NULL when not reported
-- max_ns        BIGINT   longest time, ns; NULL when not reported
-- share         DOUBLE   share of the kernel time of the same kind in the rank; NULL when that is 0
-- type_from     ENUM('profile', 'name')  where the type comes from: the profile, or (Level0) the names of the kernels; NULL
--                        without type
WITH counted_duration AS (
    SELECT
        kind,
        type_id,
        type_from,
        core_id,
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
        {'kind': kind, 'type_id': type_id, 'type_from': type_from, 'core_id': core_id},
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
    type_id,
    core_id,
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
LEFT JOIN trace.string AS type ON type.text_id = total.type_id
LEFT JOIN trace.string AS core ON core.text_id = total.core_id
QUALIFY is_chosen(type.text)
ORDER BY total_ns DESC, kind, type.text, type_from, core.text
