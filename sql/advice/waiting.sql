-- One row is a rank on which collectives wait for other ranks while the device does not compute, as the profiler measured it.
-- Requires transfers.
--
-- profile to sql as in advice.finding_of_rank
WITH collective AS (
    SELECT *
    FROM communication.exposed
    WHERE direction IS NULL
),
waiting AS (
    SELECT
        profile,
        rank_id,
        sum(op_count)::BIGINT AS op_count,
        sum(exposed_ns)::BIGINT AS exposed_ns,
        sum(waiting_ns)::BIGINT AS waiting_ns,
        sum(transferring_ns)::BIGINT AS transferring_ns,
        sum(least(waiting_ns, critical_ns)) FILTER (waiting_ns IS NOT NULL)::BIGINT AS win_ns
    FROM collective
    GROUP BY profile, rank_id
),
-- What the other ranks say: how long each waits beyond the one that comes last.
compared AS (
    SELECT count(*) AS rank_count, min(waited_ns) AS least_ns, max(waited_ns) AS most_ns
    FROM across.slow_rank
    WHERE waited_ns IS NOT NULL
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
            rank_count > 1,
            format(
                '; against the rank that comes last, the {} ranks here wait {} to {} of each step',
                rank_count,
                shown_time(least_ns),
                shown_time(most_ns)
            ),
            ''
        ),
        if(
            win_ns < waiting_ns,
            if(
                win_ns = 0,
                '; 0 can be won: the device waits for the host afterwards',
                format('; {} can be won: the device waits for the host after the others', shown_time(win_ns))
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
    'docs/advise.md#waiting' AS doc,
    'FROM communication.exposed ORDER BY waiting_ns DESC' AS sql
FROM waiting
CROSS JOIN compared
WHERE waiting_ns > 0
