-- One row is a module of a rank in which the host does something between ops for long while the device has no work, or the
-- other modules together, in which it costs little.
-- Requires kernels, ops.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (rule = 'launch_bound' AND name = 'long_ns') AS long_ns,
        max(value) FILTER (rule = 'python_between_ops' AND name = 'least_module_share') AS least_module_share
    FROM advice.threshold
),
python AS (
    SELECT
        profile,
        rank_id,
        is_between_steps,
        module,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE work = 'between ops' AND decade_ns >= threshold.long_ns
    GROUP BY profile, rank_id, is_between_steps, module
),
of_rank AS (
    SELECT
        profile,
        python.rank_id,
        is_between_steps,
        if(total_ns >= rank_step.duration_ns * threshold.least_module_share, module, NULL) AS module,
        arg_max(coalesce(module, 'code outside modules'), (total_ns, module)) AS most_in,
        max(total_ns) AS most_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM python
    JOIN across.rank_step USING (profile)
    CROSS JOIN threshold
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    if(
        is_between_steps,
        'Python keeps the host busy between steps',
        'Python keeps the host busy between ops'
    ) AS title,
    module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'The device is idle for {} in {} while the host runs no op for long',
        shown_time(total_ns),
        if(gap_count = 1, 'a part of a gap', format('{} parts of gaps', gap_count))
    ) || if(module IS NULL, format('; {} of it in {}', shown_time(most_ns), most_in), '') AS evidence,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    'upper bound' AS kind,
    'Do what needs no result of the device (scheduling, logging, tokenising, building inputs) in another thread, or while the '
    || 'device still has work. Record with_stack=True: `prof-analysis free-time` then shows the functions behind the longest '
    || 'gaps.' AS what_to_do,
    'docs/rules.md#python-between-ops' AS doc,
    'SELECT total_ns, gap_count, decade_ns, module, rank_id FROM free.cause_of_op WHERE work = ''between ops'' '
    || 'ORDER BY total_ns DESC LIMIT 50' AS sql
FROM of_rank
