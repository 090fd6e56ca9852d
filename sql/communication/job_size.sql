-- One row is the number of ranks of the job by one record of the rank: by the size of the world or the groups that the
-- framework recorded, which are all; else by the ranks that its transfers name, or the size of its groups: the job has these at
-- least.
--
-- rank_count  BIGINT   ranks of the job; NULL when the rank does not say it
-- is_exact    BOOLEAN  whether these are all ranks; else the job has these at least; NULL when rank_count is
-- known_by    VARCHAR  the record that gives it; NULL when rank_count is
WITH listed_groups AS (
    SELECT max(global_rank) + 1 AS rank_count, count(DISTINCT global_rank) AS known_count
    FROM trace.parallel_group
),
linked_group AS (
    -- Ranks within a group are numbered from 0; in a ring a rank has links to two others alone.
    SELECT max(greatest(source_rank, destination_rank)) + 1 AS rank_count
    FROM communication.link
),
sized_operator AS (
    SELECT max(group_size) AS rank_count
    FROM trace.communication
),
world AS (
    SELECT min(rank_count) AS rank_count
    FROM trace.parallelism
),
said AS (
    SELECT world.rank_count, true AS is_exact, 'its recorded world size' AS known_by, 1 AS priority
    FROM world
    UNION ALL
    SELECT rank_count, known_count = rank_count, 'its recorded groups', 2
    FROM listed_groups
    UNION ALL
    SELECT rank_count, false, 'the ranks in its transfers', 3
    FROM linked_group
    UNION ALL
    SELECT rank_count, false, 'the size of its groups', 4
    FROM sized_operator
),
best AS (
    SELECT rank_count, is_exact, known_by
    FROM said
    WHERE rank_count > 0
    ORDER BY is_exact DESC, rank_count DESC, priority
    LIMIT 1
)
SELECT best.rank_count, best.is_exact, best.known_by
FROM (SELECT 1)
LEFT JOIN best ON true
