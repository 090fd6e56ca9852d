-- One row is a rank on which collectives wait for other ranks while the device does not compute, as the profiler measured it.
-- Requires transfers.
--
-- profile to sql as in advice.finding_of_rank
WITH of_type AS (
    SELECT
        profile,
        rank_id,
        group_name,
        type,
        sum(op_count) AS op_count,
        sum(exposed_ns) AS exposed_ns,
        sum(waiting_ns) AS waiting_ns,
        sum(transferring_ns) AS transferring_ns,
        coalesce(sum(least(waiting_ns, critical_ns)) FILTER (waiting_ns IS NOT NULL), 0) AS critical_ns
    FROM communication.exposed
    WHERE direction IS NULL
    GROUP BY ALL
),
-- What all ranks of a group wait alike is not won by evening them out: it begins when the last one has come.
waiting AS (
    SELECT
        of_type.profile,
        of_type.rank_id,
        sum(of_type.op_count)::BIGINT AS op_count,
        sum(of_type.exposed_ns)::BIGINT AS exposed_ns,
        sum(of_type.waiting_ns)::BIGINT AS waiting_ns,
        sum(of_type.transferring_ns)::BIGINT AS transferring_ns,
        sum(of_type.critical_ns)::BIGINT AS critical_ns,
        bool_and(late_rank.waited_ns IS NOT NULL) AS is_compared,
        sum(least(of_type.waiting_ns, coalesce(late_rank.waited_ns, of_type.waiting_ns)))::BIGINT AS late_ns,
        sum(least(of_type.critical_ns, coalesce(late_rank.waited_ns, of_type.critical_ns)))::BIGINT AS win_ns
    FROM of_type
    LEFT JOIN across.late_rank
        ON late_rank.profile = of_type.profile
        AND late_rank.group_name = of_type.group_name
        AND late_rank.type = of_type.type
    GROUP BY of_type.profile, of_type.rank_id
)
SELECT
    profile,
    rank_id,
    'Collectives wait for other ranks' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            'of {} of collectives without computing, {} ({}) waits for other ranks and {} transfers',
            shown_time(exposed_ns),
            shown_time(waiting_ns),
            shown_share(waiting_ns / exposed_ns),
            shown_time(transferring_ns)
        ),
        if(
            late_ns < waiting_ns,
            format('; {} of it is for a rank that comes later, the rest all ranks wait alike', shown_time(late_ns)),
            ''
        ),
        if(win_ns < late_ns, won_of_collectives(critical_ns, win_ns), ''),
        coalesce(
            format(
                '; {} of {}{} ranks of the job {} not here, so that can be for {}',
                job.missing_count,
                if(job.is_exact, '', 'at least '),
                job.job_rank_count,
                if(job.missing_count = 1, 'is', 'are'),
                if(job.missing_count = 1, 'it', 'them')
            ),
            ''
        )
    ) AS evidence,
    op_count AS count,
    waiting_ns AS time_ns,
    win_ns,
    'upper bound' AS kind,
    'Find who comes late with `prof-analysis slow-ranks`, with the profiles of all ranks. If it is always one rank, mend that '
    || 'one; if it changes, even out the work: lengths of inputs, data loading, garbage collection at the same step on all '
    || 'ranks (gc.freeze(), gc.disable()), host processes bound to cores.' AS what_to_do,
    'docs/rules.md#waiting' AS doc,
    'SELECT waiting_ns, exposed_ns, op_count, type, rank_id FROM communication.exposed ORDER BY waiting_ns DESC LIMIT 50' AS sql
FROM waiting
LEFT JOIN across.job ON job.missing_count > 0
WHERE waiting_ns > 0
  -- A rank that makes the others wait is found with its cause by slow_rank, where all ranks that may be waited for are here.
  AND NOT (is_compared AND EXISTS (FROM across.slow_rank_finding WHERE finding = 'slow rank'))
