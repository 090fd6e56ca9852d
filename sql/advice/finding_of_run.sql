-- One row is something to change: equal findings of several ranks are one row. The order is that of advice.finding.
--
-- @threshold least_share 0.005: Share of the step that must be won; where nothing can be won, or it is not known, that the time
--     at issue must have
--
-- place            BIGINT   place in that order, from 1
-- @columns finding_id to time_ns_per_step as in advice.finding
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_share') AS least_share
    FROM advice.threshold
    WHERE rule = 'every'
),
-- A finding about all ranks together is about the mean rank.
scale AS (
    SELECT profile, step_count::DOUBLE AS step_count, duration_ns::DOUBLE AS duration_ns
    FROM across.rank_step
    UNION ALL
    SELECT NULL, mean(step_count), mean(duration_ns)
    FROM across.rank_step
),
of_rank AS (
    SELECT
        found.*,
        round(found.win_ns / scale.step_count)::BIGINT AS win_ns_per_step,
        found.win_ns / scale.duration_ns AS win_share,
        round(found.time_ns / scale.step_count)::BIGINT AS time_ns_per_step
    FROM advice.finding_of_rank AS found
    LEFT JOIN scale ON scale.profile IS NOT DISTINCT FROM found.profile
    CROSS JOIN threshold
    -- What cannot make a step shorter is shown only where the title says so, as for communication that computing covers.
    -- A finding that wins nothing, or nothing that is known, counts by the time at issue.
    WHERE (found.win_ns IS DISTINCT FROM 0 OR contains(found.title, 'nothing to win'))
        AND (
            coalesce(nullif(found.win_ns, 0), found.time_ns) / scale.duration_ns >= threshold.least_share
            OR coalesce(nullif(found.win_ns, 0), found.time_ns) IS NULL
        )
),
-- The rank that wins most comes first.
by_rank AS (
    SELECT
        *,
        count(profile) OVER same AS rank_count,
        min(win_ns_per_step) OVER same AS least_win_ns_per_step,
        row_number() OVER (
            PARTITION BY rule, title, module, op, kernel_type
            ORDER BY win_ns_per_step DESC NULLS LAST, time_ns_per_step DESC NULLS LAST, rank_id, profile
        ) AS place
    FROM of_rank
    WINDOW same AS (PARTITION BY rule, title, module, op, kernel_type)
),
-- A snapshot beside a profile is no rank of its own; snapshots alone are.
run AS (
    SELECT coalesce(nullif((SELECT count(*) FROM across.rank_step), 0), count(*)) AS rank_count
    FROM across.judged_rank
),
-- Ranks have a finding alike if the least win is no more than a fifth below the largest.
finding AS (
    SELECT
        by_rank.* EXCLUDE (profile, rank_id, rank_count, evidence),
        nullif(by_rank.rank_count, 0) AS rank_count,
        by_rank.rank_count = run.rank_count
        AND coalesce(by_rank.least_win_ns_per_step * 5 >= by_rank.win_ns_per_step * 4, true) AS is_alike,
        if(is_alike OR run.rank_count = 1, NULL, by_rank.rank_id) AS rank_id,
        coalesce(by_rank.rank_id::VARCHAR, by_rank.profile) AS most_on,
        CASE
            WHEN by_rank.rank_count < run.rank_count THEN format('on {} of {} ranks', by_rank.rank_count, run.rank_count)
            WHEN run.rank_count = 2 THEN 'on both ranks'
            ELSE format('on all {} ranks', run.rank_count)
        END AS on_ranks,
        upper(by_rank.evidence[1]) || by_rank.evidence[2:] || CASE
            WHEN run.rank_count = 1 OR by_rank.profile IS NULL THEN ''
            WHEN is_alike THEN format('; alike {}', on_ranks)
            WHEN by_rank.rank_count = 1 THEN format('; only on rank {}', most_on)
            ELSE format('; {}, most on rank {}', on_ranks, most_on)
        END AS evidence
    FROM by_rank
    CROSS JOIN run
    WHERE by_rank.place = 1
),
named_finding AS (
    SELECT
        left(md5(concat_ws(chr(0), rule, title, coalesce(module, ''), coalesce(op, ''), coalesce(kernel_type, ''))), 12)
            AS finding_id,
        rule,
        title,
        module,
        op,
        kernel_type,
        rank_id,
        evidence,
        count,
        win_ns_per_step,
        win_share,
        kind,
        what_to_do,
        doc,
        sql,
        rank_count,
        time_ns_per_step
    FROM finding
)
SELECT
    row_number() OVER (
        ORDER BY
            coalesce(win_ns_per_step = 0, false),
            win_ns_per_step DESC NULLS LAST,
            time_ns_per_step DESC NULLS LAST,
            finding_id
    ) AS place,
    named_finding.*
FROM named_finding
ORDER BY place
