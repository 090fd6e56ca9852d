-- One row is a module of a rank in which the host does something between ops for long while the device has no work.
-- Requires kernels, ops.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'long_ns') AS long_ns
    FROM advice.threshold
    WHERE rule = 'launch_bound'
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
)
SELECT
    profile,
    rank_id,
    if(
        is_between_steps,
        'Python keeps the host busy between steps while the device has no work',
        'Python keeps the host busy between ops while the device has no work'
    ) AS title,
    module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'In {} the device is idle for {} while the host runs {} without any op, {} at a time',
        shown_gaps(gap_count),
        shown_time(total_ns),
        if(module IS NULL, 'code outside modules', 'code of this module'),
        shown_time(total_ns / gap_count)
    ) AS evidence,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    'upper bound' AS kind,
    'Do what needs no result of the device (scheduling, logging, tokenising, building inputs) in another thread, or while the '
    || 'device still has work. Record with_stack=True: `prof-analysis free-time` then shows the functions behind the longest '
    || 'gaps.' AS what_to_do,
    'docs/advise.md#python-between-ops' AS doc,
    'FROM free.longest_gap WHERE cause = ''nothing recorded''' AS sql
FROM python
