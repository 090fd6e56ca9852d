-- One row is a run with passes of a server that is compared with the base: whether both served the same work, by phase and
-- number of requests of their passes in the steady state.
--
-- run               VARCHAR  the run that is compared with the base
-- base_pass_count   BIGINT   passes of the base
-- new_pass_count    BIGINT   passes of the new run
-- base_token_count  BIGINT   tokens of the passes of the base whose tokens are known
-- new_token_count   BIGINT   tokens of those of the new run
-- common_share      DOUBLE   part of the passes that is alike in both: the sum of the smaller shares of each phase and number
--                            of requests; NULL when a run has no passes
-- is_same_work      BOOLEAN  whether that is 90 % or more; NULL when a run has no passes
-- sentence          VARCHAR  what differs, for users; NULL where the work is the same
WITH share AS (
    SELECT run, sum(least(base_share, new_share)) AS common_share
    FROM runs.pass_comparison
    GROUP BY run
),
work AS (
    SELECT
        rank.run,
        count(*) FILTER (rank.side = 'base') AS base_pass_count,
        count(*) FILTER (rank.side = 'new') AS new_pass_count,
        coalesce(sum(time.token_count) FILTER (rank.side = 'base'), 0)::BIGINT AS base_token_count,
        coalesce(sum(time.token_count) FILTER (rank.side = 'new'), 0)::BIGINT AS new_token_count
    FROM pass.time
    JOIN runs.compared_rank AS rank ON rank.profile = time.profile
    WHERE time.is_steady AND rank.pair IS NOT NULL
    GROUP BY rank.run
),
judged AS (
    SELECT
        work.*,
        if(base_pass_count > 0 AND new_pass_count > 0, share.common_share, NULL)::DOUBLE AS common_share
    FROM work
    JOIN share USING (run)
)
SELECT
    *,
    common_share >= 0.9::DOUBLE AS is_same_work,
    CASE
        WHEN base_pass_count = 0 THEN format('the base has no passes of a server, the new run {}', new_pass_count)
        WHEN new_pass_count = 0 THEN format('the new run has no passes of a server, the base {}', base_pass_count)
        WHEN common_share < 0.9::DOUBLE THEN format(
            'the runs did not serve the same work: {:.0f}% of their passes have the same phase and number of requests '
            || '(base {} passes with {} tokens, new {} with {}); compare passes of one phase and size',
            100 * common_share,
            base_pass_count,
            base_token_count,
            new_pass_count,
            new_token_count
        )
    END AS sentence
FROM judged
ORDER BY run
