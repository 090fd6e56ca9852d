-- One row is a module, op and type of kernels that keep no part of the cores busy for most of their time. What slow_matmul
-- or block_dim finds in them with a win as large is left to these rules.
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
        sum(core_ns) / sum(duration_ns) AS core_share,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(busy_ns)::BIGINT AS busy_ns,
        sum(busy_percent * duration_ns) / sum(duration_ns) / 100 AS busy_share,
        arg_max(bound, duration_ns) AS bound
    FROM pmu.busiest
    CROSS JOIN threshold
    WHERE busy_percent < most_busy_percent AND duration_ns >= least_duration_ns * kernel_count
    GROUP BY ALL
),
explained AS (
    SELECT profile, module, op, kernel_type, win_ns
    FROM advice.slow_matmul
    UNION ALL
    SELECT profile, module, op, kernel_type, win_ns
    FROM advice.block_dim
),
judged AS (
    SELECT
        found.*,
        critical_ns - busy_ns AS win_ns,
        may_communicate(kernel_type) AS may_communicate,
        core_share < 0.5 AND NOT may_communicate AS is_uneven
    FROM found
)
SELECT
    profile,
    rank_id,
    'Kernels use no part of the cores to the full' AS title,
    module,
    op,
    kernel_type,
    format(
        'The busiest part of the cores ({}) works for {} of the {} of {}{}{}{}',
        CASE bound
            WHEN 'compute' THEN 'computing'
            WHEN 'memory' THEN 'moving data from or to memory'
            WHEN 'on chip' THEN 'moving data on the chip'
            ELSE 'scalar'
        END,
        shown_share(busy_share),
        shown_time(duration_ns),
        if(kernel_count = 1, 'a kernel', kernel_count || ' kernels'),
        if(may_communicate, '; by their name they communicate too: the rest may be waiting for other ranks', ''),
        if(is_uneven, format('; a core works for {} of it on average, and waits for others', shown_share(core_share)), ''),
        unless_critical(duration_ns, critical_ns)
    ) AS evidence,
    kernel_count AS count,
    duration_ns AS time_ns,
    win_ns,
    'upper bound' AS kind,
    CASE
        WHEN may_communicate
            THEN 'Hold their times against those of other ranks: where one rank has shorter ones, the others wait for it, and '
            || 'it must come earlier (even out experts and lengths of inputs). Where all have them alike, try other shapes or '
            || 'a newer version.'
        WHEN is_uneven
            THEN 'Few cores work on while the others have done their part. Give the kernel less of what runs one after another '
            || '(take the largest few before sorting or sampling, split long inputs), or more at a time (larger batches); own '
            || 'kernels: even out the blocks. Else try a newer version.'
        ELSE 'Own kernels: overlap reads, computing and writes (double buffering), and take larger tiles. Kernels of a '
            || 'library: try other shapes or formats, a fused op, or a newer version; operator tuning (AOE on NPUs) searches '
            || 'tilings.'
    END AS what_to_do,
    'docs/rules.md#no-bound' AS doc,
    'SELECT sum(duration_ns)::BIGINT AS duration_ns, (sum(busy_percent * duration_ns) // sum(duration_ns))::BIGINT AS busy, '
    || 'bound, type, module FROM pmu.busiest GROUP BY ALL ORDER BY duration_ns DESC LIMIT 20' AS sql
FROM judged
WHERE NOT EXISTS (
    FROM explained
    WHERE explained.profile = judged.profile
      AND explained.module IS NOT DISTINCT FROM judged.module
      AND explained.op IS NOT DISTINCT FROM judged.op
      AND explained.kernel_type IS NOT DISTINCT FROM judged.kernel_type
      AND explained.win_ns >= judged.win_ns
)
