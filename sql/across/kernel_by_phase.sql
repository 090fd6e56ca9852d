-- One row is a phase of passes of a server, and a kind, type and core of kernels in it, with their number and times over all
-- ranks, the largest total time of each phase first; with --filter, only those whose type it chooses.
--
-- phase  VARCHAR  as in kernels.by_phase
-- kind   VARCHAR  compute, communication, copy or schedule
-- type   VARCHAR  operator type, such as MatMulV3; NULL when it is not known
-- core   VARCHAR  cores they ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- @columns kernel_count to bytes as in kernels.by_phase
WITH counted_duration AS (
    SELECT phase, kind, type, core, duration_ns, kernel_count AS row_count
    FROM kernels.phase_duration
),
of_rank AS (
    SELECT {'phase': phase, 'type': type, 'core': core} AS category, * EXCLUDE (phase, type, core)
    FROM kernels.phase_rate
),
summed AS (
    FROM sums_of_ranks(of_rank)
)
SELECT
    unnest(key),
    counted.row_count AS kernel_count,
    counted.total_ns,
    counted.total_ns / nullif(sum(counted.total_ns) OVER (PARTITION BY key.phase), 0) AS share,
    counted.total_ns / counted.row_count AS mean_ns,
    spread.median_ns,
    spread.p95_ns,
    spread.min_ns,
    spread.max_ns,
    rated.achieved_tflops,
    rated.efficiency,
    rated.bandwidth_gb_s,
    rated.memory_share,
    rated.bound,
    rated.flops_per_byte,
    rated.ridge_flops_per_byte,
    rated.flops,
    rated.bytes
FROM statistic_of(counted_duration, {'phase': phase, 'kind': kind, 'type': type, 'core': core}) AS counted
LEFT JOIN rated_categories(summed) AS rated
    ON key.kind = 'compute'
    AND rated.category.phase = key.phase
    AND rated.category.type IS NOT DISTINCT FROM key.type
    AND rated.category.core IS NOT DISTINCT FROM key.core
QUALIFY is_chosen(key.type)
ORDER BY
    sum(counted.total_ns) OVER (PARTITION BY key.phase) DESC,
    key.phase,
    counted.total_ns DESC,
    key.kind,
    key.type,
    key.core
