-- One row is a rank on which the device waits because the host launches kernels too slowly, or a module and op in which the
-- host is long before it launches.
-- Requires kernels, ops.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_gap_count') AS least_gap_count,
        max(value) FILTER (name = 'long_ns') AS long_ns,
        max(value) FILTER (name = 'least_op_share') AS least_op_share
    FROM advice.threshold
    WHERE rule = 'launch_bound'
),
late AS (
    SELECT
        profile,
        rank_id,
        module,
        op,
        cause = 'inside an op' AND decade_ns >= threshold.long_ns AS is_long,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE work = 'launch' OR (work = 'between ops' AND decade_ns < threshold.long_ns)
    GROUP BY ALL
),
-- An op that costs little is no finding by itself: its time is that of a host which launches too slowly.
judged AS (
    SELECT late.*, is_long AND total_ns >= rank_step.duration_ns * threshold.least_op_share AS is_in_op, rank_step.step_count
    FROM late
    JOIN across.rank_step USING (profile)
    CROSS JOIN threshold
),
of_module AS (
    SELECT
        profile,
        rank_id,
        step_count,
        is_in_op,
        if(is_in_op, module, NULL) AS module,
        if(is_in_op, op, NULL) AS op,
        coalesce(module, 'no module') AS place,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM judged
    GROUP BY ALL
),
-- What lies behind the launch is no part of it.
starting AS (
    SELECT profile, sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    WHERE work = 'start'
    GROUP BY profile
),
-- What is in force is not advised.
replayed AS (
    SELECT profile, sum(replayed_ns) / sum(replayed_ns + eager_ns) AS share
    FROM graph.by_step
    GROUP BY profile
),
in_force AS (
    SELECT
        profile,
        bool_or(name = 'TASK_QUEUE_ENABLE' AND value = '2') AS has_queue,
        bool_or(name = 'CPU_AFFINITY_CONF' AND value <> '0') AS has_affinity
    FROM trace.setting
    GROUP BY profile
),
remedy AS (
    SELECT
        rank_step.profile,
        starting.total_ns AS starting_ns,
        if(
            coalesce(replayed.share >= 0.5, false),
            format(
                'Launch less, or faster: captured graphs run {} of the kernel time already, so capture what is launched one by '
                || 'one too; ',
                shown_share(replayed.share)
            ),
            'Launch less, or faster: graph mode (torch.compile; torchair or ACL graphs on NPUs, CUDA graphs on GPUs), '
        ) || 'fused ops and optimizers, larger batches' || CASE
            WHEN in_force.has_queue AND in_force.has_affinity THEN '.'
            WHEN in_force.has_queue THEN '; on NPUs CPU_AFFINITY_CONF to bind CPUs.'
            WHEN in_force.has_affinity THEN '; on NPUs TASK_QUEUE_ENABLE=2.'
            ELSE '; on NPUs TASK_QUEUE_ENABLE=2, and CPU_AFFINITY_CONF to bind CPUs.'
        END AS what_to_do
    FROM across.rank_step
    LEFT JOIN starting USING (profile)
    LEFT JOIN replayed USING (profile)
    LEFT JOIN in_force USING (profile)
),
of_rank AS (
    SELECT
        profile,
        rank_id,
        step_count,
        is_in_op,
        module,
        op,
        arg_max(place, (total_ns, place)) AS most_in,
        max(total_ns) AS most_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM of_module
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    if(
        is_in_op,
        'An op keeps the host busy too long',
        'The host launches kernels too slowly'
    ) AS title,
    module,
    op,
    NULL::VARCHAR AS kernel_type,
    if(
        is_in_op,
        format(
            'In {} the device is idle for {} while the host is in this op and has not yet launched: {} at a time',
            shown_gaps(gap_count),
            shown_time(total_ns),
            shown_time(total_ns / gap_count)
        ),
        format(
            'The device is idle for {} because the host launched the next kernel only after it had run out of work; {} of it '
            || 'in {}',
            shown_time(total_ns),
            shown_time(most_ns),
            most_in
        ) || coalesce(format('; behind these launches, {} more until it has started the kernels', shown_time(starting_ns)), '')
    ) AS evidence,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    'upper bound' AS kind,
    if(
        is_in_op,
        'See what the op does on the host. Its first call sets up caches and workspace: measure after warm-up steps. A range '
        || 'around Python code is such an op too: record with_stack=True to see the functions.',
        remedy.what_to_do
    ) AS what_to_do,
    'docs/rules.md#launch-bound' AS doc,
    'SELECT total_ns, gap_count, module, op, rank_id FROM free.cause_of_op WHERE work = ''launch'' '
    || 'ORDER BY total_ns DESC LIMIT 50' AS sql
FROM of_rank
JOIN remedy USING (profile)
CROSS JOIN threshold
WHERE is_in_op OR gap_count >= least_gap_count * step_count
