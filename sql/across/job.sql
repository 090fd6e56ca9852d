-- One row is the job: how many of its ranks are here.
--
-- rank_count      BIGINT   ranks here that can be read
-- job_rank_count  BIGINT   ranks of the job; NULL when no rank here says it
-- is_exact        BOOLEAN  whether these are all ranks of the job; else it has these at least; NULL when job_rank_count is
-- known_by        VARCHAR  the record that gives it; NULL when job_rank_count is
-- missing_count   BIGINT   ranks of the job that are not here, at least; NULL when job_rank_count is
-- missing_ranks   VARCHAR  their numbers in the job, of many the first, joined by ', '; NULL when not known, or none is missing
-- sentence        VARCHAR  how many of how many ranks are here, and which are not; NULL when none is known to be missing
WITH here AS (
    SELECT
        count(DISTINCT coalesce(rank_id::VARCHAR, profile)) AS rank_count,
        count(rank_id) = count(*) AS are_numbered,
        list(DISTINCT rank_id::BIGINT) AS ranks
    FROM communication.job_size
),
-- Ranks of one job say the same; those that say the most were there at its largest.
said AS (
    SELECT rank_count AS job_rank_count, is_exact, known_by
    FROM communication.job_size
    WHERE rank_count IS NOT NULL
    ORDER BY is_exact DESC, rank_count DESC, known_by
    LIMIT 1
),
job AS (
    SELECT
        here.rank_count,
        said.*,
        if(said.job_rank_count IS NULL, NULL, greatest(said.job_rank_count - here.rank_count, 0)) AS missing_count,
        if(
            here.are_numbered AND said.is_exact,
            list_filter(range(said.job_rank_count), lambda rank: NOT list_contains(here.ranks, rank)),
            NULL
        ) AS missing
    FROM here
    LEFT JOIN said ON true
)
SELECT
    rank_count,
    job_rank_count,
    is_exact,
    known_by,
    missing_count,
    if(
        len(missing) > 0,
        array_to_string(missing[:8], ', ') || if(len(missing) > 8, format(' and {} more', len(missing) - 8), ''),
        NULL
    ) AS missing_ranks,
    if(
        missing_count > 0,
        concat(
            format(
                '{} of {}{} ranks of the job {} here, by {}',
                rank_count,
                if(is_exact, '', 'at least '),
                job_rank_count,
                if(rank_count = 1, 'is', 'are'),
                known_by
            ),
            coalesce(format('; not here: {}', missing_ranks), '')
        ),
        NULL
    ) AS sentence
FROM job
