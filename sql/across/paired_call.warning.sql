-- Collectives that no other rank has, and ranks whose clocks no distance explains.
WITH call AS (
    SELECT
        *,
        coalesce(rank_id::VARCHAR, profile) AS shown_rank,
        reason = 'no other rank of its group has its step here' AS is_of_step,
        rank_count = 1 AND reason <> 'no other rank of its group is here' AS is_alone
    FROM across.paired_call
),
alone AS (
    SELECT
        known_group,
        reason,
        is_of_step,
        list(DISTINCT shown_rank ORDER BY shown_rank) AS ranks,
        list(DISTINCT step_id ORDER BY step_id) FILTER (step_id IS NOT NULL) AS steps,
        count(*) AS op_count,
        sum(elapse_ns)::BIGINT AS elapse_ns,
        arg_min(name, (start_ns, profile, kernel_id)) AS first_name
    FROM call
    WHERE is_alone
    GROUP BY known_group, reason, is_of_step
),
rank AS (
    SELECT
        known_group,
        shown_rank,
        profile,
        min(earliest_ns) AS earliest_ns,
        min(latest_ns) AS latest_ns,
        -- Clocks of hosts drift apart by less than this, and recordings are less exact.
        20000 + (max(start_ns + elapse_ns) - min(start_ns)) // 10 AS drift_ns,
        count(*) FILTER (rank_count > 1) AS op_count
    FROM call
    GROUP BY known_group, shown_rank, profile
)
SELECT
    NULL::VARCHAR AS profile,
    'warning' AS severity,
    format(
        '{} of {}, {} in all, count for no waiting, since {}{}; the first is {}{}',
        if(op_count = 1, '1 collective', format('{} collectives', op_count)),
        shown_ranks(ranks),
        shown_time(elapse_ns),
        reason,
        if(is_of_step, format(' (steps {})', array_to_string(steps, ', ')), ''),
        coalesce(first_name, 'one without a name'),
        coalesce(format(', group {}', known_group), '')
    ) AS sentence
FROM alone
UNION ALL
SELECT
    profile,
    'warning',
    format(
        'its {} collectives of group {} cannot have met those of the other ranks, whatever its clock: a rank would leave {} '
        || 'before the other one comes; waits in this group may be wrong',
        op_count,
        coalesce(known_group, 'without a name'),
        shown_time(earliest_ns - latest_ns)
    )
FROM rank
WHERE earliest_ns > latest_ns + drift_ns
ORDER BY profile, sentence
