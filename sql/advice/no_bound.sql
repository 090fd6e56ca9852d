-- One row is a module, op and type of kernels that neither compute nor moving data keeps busy.
-- Requires compute, counters.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'most_busy_percent') AS most_busy_percent,
        max(value) FILTER (name = 'least_duration_ns') AS least_duration_ns
    FROM advice.threshold
    WHERE rule = 'no_bound'
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
        sum(busy_ns)::BIGINT AS busy_ns,
        sum(busy_percent * duration_ns) / sum(duration_ns) / 100 AS busy_share,
        arg_max(bound, duration_ns) AS bound
    FROM pmu.busiest
    CROSS JOIN threshold
    WHERE busy_percent < most_busy_percent AND duration_ns >= least_duration_ns * kernel_count
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    'Kernels keep no part of the cores busy' AS title,
    module,
    op,
    kernel_type,
    format(
        'The busiest part of the cores ({}) works for {} of the {} of {}{}',
        CASE bound
            WHEN 'compute' THEN 'computing'
            WHEN 'memory' THEN 'moving data from or to memory'
            WHEN 'on chip' THEN 'moving data on the chip'
            ELSE 'scalar'
        END,
        shown_share(busy_share),
        shown_time(duration_ns),
        if(kernel_count = 1, 'a kernel', kernel_count || ' kernels'),
        unless_critical(duration_ns, critical_ns)
    ) AS evidence,
    kernel_count AS count,
    duration_ns AS time_ns,
    critical_ns - busy_ns AS win_ns,
    'upper bound' AS kind,
    'Own kernels: overlap reads, computing and writes (double buffering), and take larger tiles. Kernels of a library: try '
    || 'other shapes or formats, a fused op, or a newer version; operator tuning (AOE on NPUs) searches tilings. A kernel that '
    || 'also communicates waits for other ranks.' AS what_to_do,
    'docs/advise.md#no-bound' AS doc,
    'FROM pmu.busiest ORDER BY duration_ns DESC' AS sql
FROM found
