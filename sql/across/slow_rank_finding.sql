-- One row is the finding about all ranks: which of them, or which pipeline stage, make the others wait. Without ranks there is
-- no row.
--
-- finding                   VARCHAR  slow stage, slow rank, fast rank (most ranks make a few wait), none, or unknown
-- sentence                  VARCHAR  the finding in words, with its figures
-- pipeline_stage            BIGINT   the stage that makes the others wait; NULL where none does, or it is not one stage
-- slow_ranks                VARCHAR  the ranks that make others wait, joined by ', '; NULL when none does
-- waited_ns                 BIGINT   how much longer the others wait than these ranks, mean per step, ns; without a finding the
--                                    largest difference between two ranks; NULL when unknown
-- share                     DOUBLE   waited_ns as a part of a step; NULL when unknown
-- computing_ns              BIGINT   computing of these ranks, mean per step, ns; NULL when not known, or when none makes
--                                    others wait
-- computing_of_others_ns    BIGINT   computing of the others, mean per step, ns; NULL when not known, or when none makes others
--                                    wait
WITH rank AS (
    SELECT
        *,
        coalesce(rank_id::VARCHAR, profile) AS shown,
        coalesce(step_ns, computing_ns, coalesce(p2p_elapse_ns, 0) + coalesce(collective_elapse_ns, 0)) AS whole_ns
    FROM across.slow_rank
),
stage AS (
    SELECT pipeline_stage
    FROM rank
    WHERE is_slow IS NOT NULL
    GROUP BY pipeline_stage
    HAVING bool_and(is_slow) AND pipeline_stage IS NOT NULL
),
figure AS (
    SELECT
        count(*) AS rank_count,
        count(waited_ns) AS known_count,
        count(*) FILTER (is_slow) AS slow_count,
        avg(waited_ns) FILTER (NOT is_slow) - avg(waited_ns) FILTER (is_slow) AS more_ns,
        max(waited_ns) - min(waited_ns) AS spread_ns,
        avg(whole_ns) FILTER (waited_ns IS NOT NULL) AS whole_ns,
        avg(computing_ns) FILTER (is_slow) AS computing_ns,
        avg(computing_ns) FILTER (NOT is_slow) AS computing_of_others_ns,
        avg(p2p_elapse_ns) FILTER (is_slow) AS p2p_ns,
        avg(p2p_elapse_ns) FILTER (NOT is_slow) AS p2p_of_others_ns,
        list(shown ORDER BY rank_id, profile) FILTER (is_slow) AS slow_names,
        list(shown ORDER BY rank_id, profile) FILTER (NOT is_slow) AS other_names,
        count(*) FILTER (is_slow AND pipeline_stage IN (FROM stage)) AS in_stage_count,
        if((SELECT count(*) FROM stage) = 1, (SELECT min(pipeline_stage) FROM stage), NULL) AS slow_stage
    FROM rank
),
job AS (
    SELECT job_rank_count, is_exact, missing_count
    FROM across.job
    WHERE missing_count > 0
),
-- Waits of the ranks here for a missing rank, or equal waits of all.
waiting_rank AS (
    SELECT avg(coalesce(p2p_wait_ns, 0) + coalesce(collective_wait_ns, 0) - coalesce(waited_ns, 0)) AS for_others_ns
    FROM rank
    WHERE p2p_wait_ns IS NOT NULL OR collective_wait_ns IS NOT NULL
),
found_cause AS (
    SELECT
        *,
        coalesce(more_ns, spread_ns) AS waited_ns,
        CASE
            WHEN known_count < 2 THEN 'unknown'
            WHEN slow_count = 0 THEN 'none'
            WHEN slow_stage IS NOT NULL AND in_stage_count = slow_count THEN 'slow stage'
            WHEN slow_count * 2 > known_count THEN 'fast rank'
            ELSE 'slow rank'
        END AS finding
    FROM figure
),
worded_cause AS (
    SELECT
        *,
        CASE
            WHEN computing_ns IS NULL OR computing_of_others_ns IS NULL THEN 'what computing takes is not known'
            WHEN computing_ns - computing_of_others_ns >= 0.5 * waited_ns THEN format(
                'since computing takes {} of each step, against {}',
                shown_time(computing_ns),
                shown_time(computing_of_others_ns)
            )
            ELSE format(
                'though computing takes {} of each step, against {}: look at the host (free time, data loading)',
                shown_time(computing_ns),
                shown_time(computing_of_others_ns)
            )
        END AS cause,
        format('by {} of each step ({:.1f}%)', shown_time(waited_ns), 100 * waited_ns / whole_ns) AS amount,
        coalesce(
            format(
                ' {} of {}{} ranks of the job {} not here{}.',
                missing_count,
                if(is_exact, '', 'at least '),
                job_rank_count,
                if(missing_count = 1, 'is', 'are'),
                if(
                    waiting_rank.for_others_ns >= 0.05 * whole_ns,
                    format(
                        ': the ranks here wait {} of each step ({:.1f}%) beyond what they wait for each other, which can be '
                        || 'for one of those',
                        shown_time(waiting_rank.for_others_ns),
                        100 * waiting_rank.for_others_ns / whole_ns
                    ),
                    ', and may be waited for too'
                )
            ),
            ''
        ) AS of_missing
    FROM found_cause
    CROSS JOIN waiting_rank
    LEFT JOIN job ON true
)
SELECT
    finding,
    CASE finding
        WHEN 'unknown'
            THEN 'No communication operator is found in two ranks, so it is not known which rank makes the others wait.'
        WHEN 'none' THEN format(
            'No rank {}makes the others wait: what ranks wait for each other differs {} at most.',
            if(missing_count > 0, 'that is here ', ''),
            amount
        )
        WHEN 'slow stage' THEN format(
            'Pipeline stage {} ({}) makes the others wait, {}, {}{}.',
            slow_stage,
            shown_ranks(slow_names),
            amount,
            cause,
            coalesce(
                format('; sending and receiving take it {}, the others {}', shown_time(p2p_ns), shown_time(p2p_of_others_ns)),
                ''
            )
        )
        WHEN 'slow rank' THEN format(
            '{} {} the others wait, {}, {}.',
            upper(shown_ranks(slow_names)[1]) || shown_ranks(slow_names)[2:],
            if(slow_count = 1, 'makes', 'make'),
            amount,
            cause
        )
        ELSE format(
            '{} {} for all others, {}, {}.',
            upper(shown_ranks(other_names)[1]) || shown_ranks(other_names)[2:],
            if(len(other_names) = 1, 'waits', 'wait'),
            amount,
            cause
        )
    END || of_missing AS sentence,
    if(finding = 'slow stage', slow_stage, NULL) AS pipeline_stage,
    if(slow_count > 0, array_to_string(slow_names, ', '), NULL) AS slow_ranks,
    round(waited_ns)::BIGINT AS waited_ns,
    waited_ns / nullif(whole_ns, 0) AS share,
    round(computing_ns)::BIGINT AS computing_ns,
    if(slow_count > 0, round(computing_of_others_ns)::BIGINT, NULL) AS computing_of_others_ns
FROM worded_cause
WHERE rank_count > 0
