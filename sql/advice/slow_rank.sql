-- One row is a rank that makes others wait, with what they wait because of it; or, where most ranks make a few wait, one that
-- waits for them. A pipeline stage whose computing explains the waiting is left to stage_imbalance.
--
-- @title (cause = none) A rank waits for most others
-- @title (cause = computing) A rank makes the others wait: it computes longer
-- @title (cause = host) A rank makes the others wait: its host is late
-- @title (cause = other communication) A rank makes the others wait: its other communication takes longer
-- @title A rank makes the others wait
-- @evidence (cause = none) it waits {waited_ns} in each step, the others {their_waited_ns} on average; it computes for
--     {known_time(computing_ns)}, they for {known_time(others_ns)}
-- @evidence the others wait {waited_ns} longer than this rank in each step[; it computes for {computing_ns} of each step, the
--     others for {others_ns}][; it comes last to {last_count} collectives][; most in {most_in}, which takes {excess_ns} more in
--     all steps][; before these its host is mostly at: {idle_cause}]
-- @kind (cause = none) hint
-- @kind upper bound
-- @remedy (cause = none) Give it as much work as the others have (lengths of inputs, experts, layers); if it has as much, see
--     whether its links are slow: `prof-analysis links`.
-- @remedy (cause = computing) Compare its modules and its clock with those of the others (`prof-analysis slow-ranks`,
--     `prof-analysis clock`). If it has more work, give all ranks the same (lengths of inputs, experts); if the same work takes
--     longer, look at the device.
-- @remedy (cause = host) Look at the host of this rank (`prof-analysis free-time` with --rank-list): data loading, CPUs shared
--     with other processes, no binding to cores, garbage collection, logging or checkpoints that only this rank does.
-- @remedy (cause = other communication) Look at what this rank communicates in other groups, and at its links: `prof-analysis
--     links`.
-- @remedy Look at what this rank does before the collectives to which it comes last: `prof-analysis slow-ranks`, then
--     `prof-analysis free-time` with --rank-list.
-- @query (cause = none) SELECT rank_id, waited_ns, computing_ns, step_ns, last_count FROM across.slow_rank ORDER BY waited_ns
--     DESC LIMIT 20
-- @query SELECT all_waited_ns, last_rank_id, cause, type, name FROM across.collective ORDER BY all_waited_ns DESC LIMIT 20
-- @counts ranks
-- @guard several ranks
-- @requires communication | reported_communication
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- cause            VARCHAR  why it makes the others wait: computing, host, other communication or unknown; none for a rank that
--                           waits for most others
-- waited_ns        DOUBLE   what the others wait longer than it in a step, or what it waits itself, ns
-- their_waited_ns  DOUBLE   what the others wait themselves on average, ns; NULL for a rank that makes others wait
-- computing_ns     BIGINT   its computing in a step, ns; NULL when not known
-- others_ns        DOUBLE   that of the others on average, ns; NULL when not known
-- last_count       BIGINT   collectives to which it comes last; NULL when there are none
-- most_in          VARCHAR  the module in which it computes longer than the others; NULL when it does not, or not known
-- excess_ns        DOUBLE   how much longer in all steps, ns; NULL when not known
-- idle_cause       VARCHAR  what its late host mostly does; NULL when it is not late, or not known
--
-- A rank that makes others wait, as `slow-ranks` finds it, among two ranks or more. The win is the time that the others wait
-- longer than this rank, but at most their communication without computing. It is an **upper bound**, since the next slowest
-- rank then sets the pace. The title names the reason: the rank computes longer, its host is late, or its other communication
-- takes longer. If others wait for a whole pipeline stage that computes longer, [stage imbalance](#stage-imbalance) reports it.
-- If most ranks make a few wait, there is one **hint**: the few have less work, or slow links.
WITH exposed_time AS (
    SELECT profile, sum(communication_not_overlapped_ns) / count(*) AS exposed_ns
    FROM step.time
    WHERE stage_ns IS NOT NULL OR origin = 'profiler'
    GROUP BY profile
),
waiting_rank AS (
    SELECT slow_rank.*, exposed_time.exposed_ns
    FROM across.slow_rank
    LEFT JOIN exposed_time USING (profile)
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
        avg(waiting_rank.computing_ns) AS others_ns,
        avg(waiting_rank.waited_ns - slow.waited_ns) AS waited_ns,
        avg(least(waiting_rank.waited_ns - slow.waited_ns, waiting_rank.exposed_ns)) AS win_ns
    FROM across.slow_rank AS slow
    CROSS JOIN waiting_rank
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
candidate AS (
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
    last_count AS count,
    round(waited_ns * step_count)::BIGINT AS time_ns,
    round(win_ns * step_count)::BIGINT AS win_ns,
    cause,
    waited_ns,
    NULL::DOUBLE AS their_waited_ns,
    computing_ns,
    others_ns,
    if(last_count > 0, last_count, NULL) AS last_count,
    if(cause = 'computing', module, NULL) AS most_in,
    excess_ns,
    if(cause = 'host', idle_cause, NULL) AS idle_cause
FROM candidate
WHERE NOT is_of_stage AND finding <> 'fast rank'
UNION ALL
SELECT
    waiting_rank.profile,
    waiting_rank.rank_id,
    NULL,
    waiting_rank.waited_ns * waiting_rank.step_count,
    NULL,
    'none',
    waiting_rank.waited_ns,
    (SELECT avg(waited_ns) FROM across.slow_rank WHERE is_slow),
    waiting_rank.computing_ns,
    finding.computing_ns,
    NULL,
    NULL,
    NULL,
    NULL
FROM waiting_rank
CROSS JOIN across.slow_rank_finding AS finding
WHERE finding.finding = 'fast rank'
