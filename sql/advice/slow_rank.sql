-- One row is a rank that makes others wait, with what they wait because of it; or, where most ranks make a few wait, one that
-- waits for them. A pipeline stage whose computing explains the waiting is left to stage_imbalance.
-- Requires communication or reported_communication.
--
-- profile to sql as in advice.finding_of_rank
WITH exposed AS (
    SELECT profile, sum(communication_not_overlapped_ns) / count(*) AS exposed_ns
    FROM step.time
    WHERE stage_ns IS NOT NULL OR origin = 'profiler'
    GROUP BY profile
),
waiting AS (
    SELECT slow_rank.*, exposed.exposed_ns
    FROM across.slow_rank
    LEFT JOIN exposed USING (profile)
    WHERE NOT is_slow
),
-- What is won is no more than what others wait beyond it, and than what of their communication computing does not cover, where
-- that is known.
slow AS (
    SELECT
        slow.profile,
        slow.rank_id,
        slow.step_count,
        slow.computing_ns,
        slow.last_count,
        avg(waiting.computing_ns) AS others_ns,
        avg(waiting.waited_ns - slow.waited_ns) AS waited_ns,
        avg(least(waiting.waited_ns - slow.waited_ns, waiting.exposed_ns)) AS win_ns
    FROM across.slow_rank AS slow
    CROSS JOIN waiting
    WHERE slow.is_slow
    GROUP BY ALL
),
by_cause AS (
    SELECT last_profile AS profile, cause, idle_cause, count(*) AS collective_count, sum(all_waited_ns) AS all_waited_ns
    FROM across.collective
    GROUP BY last_profile, cause, idle_cause
),
cause AS (
    SELECT
        profile,
        arg_max(cause, (all_waited_ns, cause)) FILTER (cause IS NOT NULL) AS cause,
        arg_max(idle_cause, (all_waited_ns, idle_cause)) FILTER (idle_cause IS NOT NULL) AS idle_cause,
        sum(collective_count)::BIGINT AS collective_count
    FROM by_cause
    GROUP BY profile
),
main_module AS (
    SELECT
        profile,
        arg_max(concat_ws('/', nullif(parent_module, ''), module), (excess_ns, parent_module, module)) AS module,
        max(excess_ns) AS excess_ns
    FROM across.slow_rank_module
    WHERE excess_ns > 0
    GROUP BY profile
),
judged AS (
    SELECT
        slow.*,
        cause.idle_cause,
        main_module.module,
        main_module.excess_ns,
        CASE
            WHEN slow.computing_ns - slow.others_ns >= 0.5 * slow.waited_ns THEN 'computing'
            ELSE coalesce(cause.cause, 'unknown')
        END AS cause,
        finding.finding,
        finding.finding = 'slow stage'
        AND coalesce(finding.computing_ns - finding.computing_of_others_ns >= 0.5 * finding.waited_ns, false) AS is_of_stage
    FROM slow
    CROSS JOIN across.slow_rank_finding AS finding
    LEFT JOIN cause USING (profile)
    LEFT JOIN main_module USING (profile)
)
SELECT
    profile,
    rank_id,
    'A rank makes the others wait' || CASE cause
        WHEN 'computing' THEN ': it computes longer'
        WHEN 'host' THEN ': its host is late'
        WHEN 'other communication' THEN ': its other communication takes longer'
        ELSE ''
    END AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format('the others wait {} longer than this rank in each step', shown_time(waited_ns)),
        if(
            computing_ns IS NULL OR others_ns IS NULL,
            '',
            format('; it computes for {} of each step, the others for {}', shown_time(computing_ns), shown_time(others_ns))
        ),
        if(last_count > 0, format('; it comes last to {} collectives', last_count), ''),
        if(
            cause = 'computing' AND module IS NOT NULL,
            format('; most in {}, which takes {} more in all steps', module, shown_time(excess_ns)),
            ''
        ),
        if(cause = 'host' AND idle_cause IS NOT NULL, format('; before these its host is mostly at: {}', idle_cause), '')
    ) AS evidence,
    last_count AS count,
    round(waited_ns * step_count)::BIGINT AS time_ns,
    round(win_ns * step_count)::BIGINT AS win_ns,
    'upper bound' AS kind,
    CASE cause
        WHEN 'computing'
            THEN 'Compare its modules and its clock with those of the others (`prof-analysis slow-ranks`, `prof-analysis '
            || 'clock`). If it has more work, give all ranks the same (lengths of inputs, experts); if the same work takes '
            || 'longer, look at the device.'
        WHEN 'host'
            THEN 'Look at the host of this rank (`prof-analysis free-time` with --rank-list): data loading, CPUs shared with '
            || 'other processes, no binding to cores, garbage collection, logging or checkpoints that only this rank does.'
        WHEN 'other communication'
            THEN 'Look at what this rank communicates in other groups, and at its links: `prof-analysis links`.'
        ELSE 'Look at what this rank does before the collectives to which it comes last: `prof-analysis slow-ranks`, then '
            || '`prof-analysis free-time` with --rank-list.'
    END AS what_to_do,
    'docs/rules.md#slow-rank' AS doc,
    'SELECT all_waited_ns, last_rank_id, cause, type, name FROM across.collective ORDER BY all_waited_ns DESC LIMIT 20' AS sql
FROM judged
WHERE NOT is_of_stage AND finding <> 'fast rank'
UNION ALL
SELECT
    waiting.profile,
    waiting.rank_id,
    'A rank waits for most others',
    NULL,
    NULL,
    NULL,
    format(
        'it waits {} in each step, the others {} on average; it computes for {}, they for {}',
        shown_time(waiting.waited_ns),
        shown_time((SELECT avg(waited_ns) FROM across.slow_rank WHERE is_slow)),
        coalesce(shown_time(waiting.computing_ns), 'a time not known'),
        coalesce(shown_time(finding.computing_ns), 'a time not known')
    ),
    NULL,
    waiting.waited_ns * waiting.step_count,
    NULL,
    'hint',
    'Give it as much work as the others have (lengths of inputs, experts, layers); if it has as much, see whether its '
    || 'links are slow: `prof-analysis links`.',
    'docs/rules.md#slow-rank',
    'SELECT rank_id, waited_ns, computing_ns, step_ns, last_count FROM across.slow_rank ORDER BY waited_ns DESC LIMIT 20'
FROM waiting
CROSS JOIN across.slow_rank_finding AS finding
WHERE finding.finding = 'fast rank'
