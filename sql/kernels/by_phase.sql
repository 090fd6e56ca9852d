-- One row is a phase of passes of a server, and a kind, type and core of kernels in it, with their number and times, the
-- largest total time of each phase first; with --filter, only those whose type it chooses.
--
-- phase         VARCHAR  as in pass.kernel_phase
-- @columns kind to total_ns as in kernels.statistic
-- share         DOUBLE   part of the time of all kernels of the phase; NULL when that is 0
-- @columns mean_ns to max_ns as in kernels.statistic
-- @columns achieved_tflops to bound, flops_per_byte, ridge_flops_per_byte, flops, bytes as in kernels.by_category
WITH counted_duration AS (
    SELECT phase, kind, type_id, core_id, duration_ns, kernel_count AS row_count
    FROM kernels.phase_duration
),
of_type AS (
    SELECT {'phase': phase, 'type_id': type_id, 'core_id': core_id} AS category, * EXCLUDE (phase, type_id, core_id)
    FROM kernels.phase_rate
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
FROM statistic_of(counted_duration, {'phase': phase, 'kind': kind, 'type_id': type_id, 'core_id': core_id}) AS counted
LEFT JOIN rated_categories(of_type) AS rated
    ON key.kind = 'compute'
    AND rated.category.phase = key.phase
    AND rated.category.type_id IS NOT DISTINCT FROM key.type_id
    AND rated.category.core_id IS NOT DISTINCT FROM key.core_id
LEFT JOIN trace.string AS type ON type.text_id = key.type_id
LEFT JOIN trace.string AS core ON core.text_id = key.core_id
QUALIFY is_chosen(type.text)
ORDER BY
    sum(counted.total_ns) OVER (PARTITION BY key.phase) DESC,
    key.phase,
    counted.total_ns DESC,
    key.kind,
    type.text,
    core.text
