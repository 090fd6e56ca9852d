-- One row is an expert and its rows over all steps and modules, the one with most first; without a row where grouped matmuls
-- have all rows in one tensor, see experts.expert.
--
-- profile        VARCHAR  the folder, the identity of the rank
-- rank_id        INTEGER  the rank; NULL when the files name none
-- expert         BIGINT   number of the expert on its rank, from 0
-- row_count      BIGINT   rows in all grouped matmuls: a token counts in each that it passes
-- row_imbalance  DOUBLE   row_count / mean of all experts; NULL when that is 0
WITH expert_of_rank AS (
    SELECT profile, rank_id, expert, sum(row_count)::BIGINT AS row_count
    FROM experts.expert
    GROUP BY profile, rank_id, expert
)
SELECT
    profile,
    rank_id,
    expert,
    row_count,
    row_count * count(*) OVER () / nullif(sum(row_count) OVER (), 0) AS row_imbalance
FROM expert_of_rank
ORDER BY row_count DESC, rank_id, profile, expert
