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
WITH ranked AS (
    SELECT
        *,
        sum(kernel_count) OVER (PARTITION BY kind, type_id, type_from, core_id ORDER BY duration_ns) AS kernels_up_to,
        sum(kernel_count) OVER (PARTITION BY kind, type_id, type_from, core_id) AS kernels
    FROM kernels.duration
),
total AS (
    SELECT
        kind,
        type_id,
        type_from,
        core_id,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(coalesce(total_ns, duration_ns * kernel_count))::BIGINT AS total_ns,
        if(count(*) = count(duration_ns), nearest_rank(duration_ns, kernels_up_to, kernels, 50), NULL) AS median_ns,
        if(count(*) = count(duration_ns), nearest_rank(duration_ns, kernels_up_to, kernels, 95), NULL) AS p95_ns,
        min(coalesce(duration_ns, min_ns)) AS min_ns,
        max(coalesce(duration_ns, max_ns)) AS max_ns
    FROM ranked
    GROUP BY kind, type_id, type_from, core_id
)
SELECT
    kind,
    type_id,
    core_id,
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
LEFT JOIN trace.string AS type ON type.text_id = total.type_id
LEFT JOIN trace.string AS core ON core.text_id = total.core_id
QUALIFY is_chosen(type.text)
ORDER BY total_ns DESC, kind, type.text, type_from, core.text
