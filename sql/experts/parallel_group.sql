-- One row is the expert parallel group of the rank as the training framework recorded it; without one there is no row.
--
-- @guard trace.parallel_group
--
-- label         VARCHAR  label of the group: exp or ep; of several, the first of these
-- group_ranks   VARCHAR  global numbers of its ranks, in order, joined by ','
WITH labelled AS (
    SELECT group_name, label, list_position(['exp', 'ep', 'mc2'], lower(label)) AS precedence, position, global_rank
    FROM trace.parallel_group
),
chosen_group AS (
    SELECT group_name, label, precedence, string_agg(global_rank, ',' ORDER BY position) AS group_ranks, count(*) AS rank_count
    FROM labelled
    WHERE precedence IS NOT NULL
    GROUP BY group_name, label, precedence
)
SELECT label, group_ranks
FROM chosen_group
ORDER BY precedence, rank_count DESC, group_ranks
LIMIT 1
