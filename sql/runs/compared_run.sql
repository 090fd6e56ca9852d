-- One row is a side of a comparison, base or new, with the size of the compared part: its sums divided by unit_count are the
-- figures.
--
-- run           VARCHAR  the run that is compared with the base
-- side          VARCHAR  base or new
-- unit_kind     VARCHAR  the unit of the means: step, call or run
-- rank_count    BIGINT   ranks that are compared
-- left_out      BIGINT   ranks without a partner, which are left out
-- unit_count    BIGINT   units of all these ranks; where figures are per run, the ranks
-- distinct_count BIGINT  of these, units with different numbers: a step that several ranks have is one
-- sample_kind   VARCHAR  what a value of the samples that say what is noise is: step, call or rank; NULL without any
-- sample_count  BIGINT   values of its sample
-- reason        VARCHAR  why noise is not known; NULL where it is
WITH size AS (
    SELECT
        run,
        side,
        if(getvariable('per') = 'run', 'run', min(kind)) AS unit_kind,
        count(DISTINCT profile) AS rank_count,
        if(getvariable('per') = 'run', count(DISTINCT profile), count(*)) AS unit_count,
        count(DISTINCT unit_id) AS place_count,
        count(DISTINCT sample_id) AS sample_count
    FROM runs.compared_unit
    GROUP BY run, side
),
rank AS (
    SELECT run, side, count(*) FILTER (pair IS NULL) AS left_out
    FROM runs.compared_rank
    GROUP BY run, side
),
sampling AS (
    SELECT
        run,
        CASE
            WHEN min(sample_count) = 0 THEN NULL
            WHEN getvariable('per') <> 'run' AND min(place_count) > 1 THEN min(unit_kind)
            ELSE 'rank'
        END AS sample_kind,
        string_agg(side, ' and ' ORDER BY side) FILTER (rank_count = 1 AND (place_count = 1 OR unit_kind = 'run')) AS single,
        min(rank_count) AS least_ranks,
        if(min(unit_kind) = 'run', 'one rank', format('one {} on one rank', min(unit_kind))) AS thing
    FROM size
    GROUP BY run
)
SELECT
    run,
    side,
    size.unit_kind,
    size.rank_count,
    rank.left_out,
    size.unit_count,
    size.place_count AS distinct_count,
    sampling.sample_kind,
    size.sample_count,
    CASE
        WHEN sampling.sample_kind IS NOT NULL THEN NULL
        WHEN single LIKE '% and %' THEN format('base and new have {} each', thing)
        WHEN single IS NOT NULL THEN format('{} has {}', single, thing)
        WHEN least_ranks = 1 THEN 'one side has one ' || size.unit_kind || ', the other one rank'
        ELSE format(
            '{} are no measure of it, since they wait for each other; it takes two {}, or three ranks',
            if(least_ranks = 2, 'two ranks', 'these ranks'),
            if(size.unit_kind = 'run', 'steps', size.unit_kind || 's')
        )
    END AS reason
FROM size
JOIN rank USING (run, side)
JOIN sampling USING (run)
ORDER BY run, side
