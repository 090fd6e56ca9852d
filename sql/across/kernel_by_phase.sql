-- One row is a phase of passes of a server, and a kind, type and core of kernels in it, with their number and times over all
-- ranks, the largest total time of each phase first; with --filter, only those whose type it chooses.
--
-- phase  VARCHAR  as in kernels.by_phase
-- kind   VARCHAR  compute, communication, copy or schedule
-- type   VARCHAR  operator type, such as MatMulV3; NULL when it is not known
-- core   VARCHAR  cores they ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- @columns kernel_count to max_ns as in kernels.by_phase
WITH counted_duration AS (
    SELECT phase, kind, type, core, duration_ns, kernel_count AS row_count
    FROM kernels.phase_duration
)
SELECT
    unnest(key),
    row_count AS kernel_count,
    total_ns,
    total_ns / nullif(sum(total_ns) OVER (PARTITION BY key.phase), 0) AS share,
    total_ns / row_count AS mean_ns,
    spread.median_ns,
    spread.p95_ns,
    spread.min_ns,
    spread.max_ns
FROM statistic_of(counted_duration, {'phase': phase, 'kind': kind, 'type': type, 'core': core})
QUALIFY is_chosen(key.type)
ORDER BY sum(total_ns) OVER (PARTITION BY key.phase) DESC, key.phase, total_ns DESC, key.kind, key.type, key.core
