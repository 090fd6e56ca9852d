-- One row is a module, op and type of kernels that spend their time on moving data from and to memory. Matmuls in which
-- slow_matmul finds a win as large are left to it.
-- Requires compute, counters.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_busy_percent') AS least_busy_percent,
        max(value) FILTER (name = 'least_duration_ns') AS least_duration_ns
    FROM advice.threshold
    WHERE rule = 'memory_bound'
),
found AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(busy_percent * duration_ns) / sum(duration_ns) / 100 AS busy_share,
        if(sum(known_ns) = sum(critical_ns), coalesce(sum(least_ns), 0), NULL)::BIGINT AS least_ns
    FROM pmu.busiest
    CROSS JOIN threshold
    WHERE bound = 'memory' AND busy_percent >= least_busy_percent AND duration_ns >= least_duration_ns * kernel_count
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    'Kernels spend their time on moving data' AS title,
    module,
    op,
    kernel_type,
    format(
        'Data moves from or to memory for {} of the {} of {}{}{}',
        shown_share(busy_share),
        shown_time(duration_ns),
        if(kernel_count = 1, 'a kernel', kernel_count || ' kernels'),
        CASE
            WHEN critical_ns = 0 THEN ''
            WHEN least_ns IS NULL THEN '; how much data is not known'
            ELSE format('; to compute, and to move the data at the best rate of the profile, takes {}', shown_time(least_ns))
        END,
        unless_critical(duration_ns, critical_ns)
    ) AS evidence,
    kernel_count AS count,
    duration_ns AS time_ns,
    critical_ns - least_ns AS win_ns,
    if(least_ns IS NULL, 'hint', 'upper bound') AS kind,
    'Make inputs contiguous where a stride scatters the reads, move fewer bytes (half precision, no copies), and fuse these '
    || 'kernels with those before and after them, so that data is read once.' AS what_to_do,
    'docs/rules.md#memory-bound' AS doc,
    'SELECT sum(duration_ns)::BIGINT AS duration_ns, (sum(busy_percent * duration_ns) // sum(duration_ns))::BIGINT AS busy, '
    || 'bound, type, module FROM pmu.busiest WHERE bound = ''memory'' GROUP BY ALL ORDER BY duration_ns DESC LIMIT 20' AS sql
FROM found
WHERE NOT EXISTS (
    FROM advice.slow_matmul AS explained
    WHERE explained.profile = found.profile
      AND explained.module IS NOT DISTINCT FROM found.module
      AND explained.op IS NOT DISTINCT FROM found.op
      AND explained.kernel_type IS NOT DISTINCT FROM found.kernel_type
      AND explained.win_ns >= coalesce(found.critical_ns - found.least_ns, 0)
)
