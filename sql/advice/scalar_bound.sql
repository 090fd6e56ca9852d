-- One row is a module, op and type of kernels that spend their time in the scalar unit of the cores.
-- Requires compute, counters.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_busy_percent') AS least_busy_percent,
        max(value) FILTER (name = 'least_duration_ns') AS least_duration_ns
    FROM advice.threshold
    WHERE rule = 'scalar_bound'
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
        sum(other_ns)::BIGINT AS other_ns,
        sum(busy_percent * duration_ns) / sum(duration_ns) / 100 AS busy_share
    FROM pmu.busiest
    CROSS JOIN threshold
    WHERE bound = 'scalar' AND busy_percent >= least_busy_percent AND duration_ns >= least_duration_ns * kernel_count
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    'Kernels spend their time in the scalar unit' AS title,
    module,
    op,
    kernel_type,
    format(
        'The scalar unit works for {} of the {} of {}, computing and moving data for {}{}',
        shown_share(busy_share),
        shown_time(duration_ns),
        if(kernel_count = 1, 'a kernel', kernel_count || ' kernels'),
        if(critical_ns > 0, shown_share(other_ns / critical_ns) || ' at most', 'less'),
        unless_critical(duration_ns, critical_ns)
    ) AS evidence,
    kernel_count AS count,
    duration_ns AS time_ns,
    critical_ns - other_ns AS win_ns,
    'upper bound' AS kind,
    'Own kernels (Triton, TileLang, Ascend C): work on whole tiles and not on single elements, take loops, divisions and masks '
    || 'out of the inner loop, make tiles larger, and compute indices in 32 bits. Kernels of a library: inputs of another type '
    || '(INT32 in place of INT64), other shapes, or a newer version.' AS what_to_do,
    'docs/rules.md#scalar-bound' AS doc,
    'SELECT sum(duration_ns)::BIGINT AS duration_ns, (sum(busy_percent * duration_ns) // sum(duration_ns))::BIGINT AS busy, '
    || 'bound, type, module FROM pmu.busiest WHERE bound = ''scalar'' GROUP BY ALL ORDER BY duration_ns DESC LIMIT 20' AS sql
FROM found
