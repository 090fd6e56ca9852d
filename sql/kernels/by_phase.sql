-- One row is a phase of passes of a server, and a kind, type and core of kernels in it, with their number and times, the
-- largest total time of each phase first; with --filter, only those whose type it chooses.
--
-- phase         VARCHAR  as in pass.kernel_phase
-- @columns kind to total_ns as in kernels.statistic
-- share         DOUBLE   part of the time of all kernels of the phase; NULL when that is 0
-- @columns mean_ns to max_ns as in kernels.statistic
WITH counted_duration AS (
    SELECT phase, kind, type_id, core_id, duration_ns, kernel_count AS row_count
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
FROM statistic_of(counted_duration, {'phase': phase, 'kind': kind, 'type_id': type_id, 'core_id': core_id})
LEFT JOIN trace.string AS type ON type.text_id = key.type_id
LEFT JOIN trace.string AS core ON core.text_id = key.core_id
QUALIFY is_chosen(type.text)
ORDER BY sum(total_ns) OVER (PARTITION BY key.phase) DESC, key.phase, total_ns DESC, key.kind, type.text, core.text
