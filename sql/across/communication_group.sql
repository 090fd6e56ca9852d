-- One row is a group of ranks that the training framework made, or in which ranks communicated, with its members and its
-- operators over all ranks, the longest first.
--
-- @sum op_count, total_ns
--
-- group_name      VARCHAR  the group of ranks, that is, the communicator, as its operators name it; without operators as the
--                          profile lists it; NULL when operators do not name theirs
-- group_label     VARCHAR  its purpose in the framework, such as pp, dp, tp or default_group; NULL when not recorded
-- rank_count      BIGINT   its ranks; NULL when not recorded
-- ranks           VARCHAR  their numbers in the whole job, in the order of the group, joined by ', '; NULL when not recorded
-- profiled_count  BIGINT   ranks here that list it, or have operators of it
-- profiled_ranks  VARCHAR  their numbers, or their folders where files name none, joined by ', '
-- op_count        BIGINT   communication operators of it, on all of them
-- total_ns        BIGINT   their time, ns; overlapping operators count fully
WITH purpose AS (
    SELECT profile, group_name, if(count(DISTINCT label) = 1, min(label), NULL) AS group_label
    FROM trace.parallel_group
    GROUP BY profile, group_name
),
-- A group with two purposes lists its ranks twice.
listed_rank AS (
    SELECT DISTINCT profile, rank_id, group_name, position, global_rank
    FROM trace.parallel_group
),
listed_group AS (
    SELECT
        profile,
        rank_id,
        group_name AS listed_name,
        purpose.group_label,
        count(DISTINCT position) AS rank_count,
        string_agg(global_rank::VARCHAR, ', ' ORDER BY position) AS ranks
    FROM listed_rank
    JOIN purpose USING (profile, group_name)
    GROUP BY profile, rank_id, group_name, purpose.group_label
),
-- Operators name a group as the profile lists it, or by a hash of that name.
named_group AS (
    SELECT *, listed_name AS group_name
    FROM listed_group
    UNION ALL
    SELECT *, hash_of_group(listed_name) AS group_name
    FROM listed_group
),
group_in_use AS (
    SELECT profile, rank_id, group_name, sum(op_count) AS op_count, sum(total_ns) AS total_ns
    FROM communication.statistic
    GROUP BY profile, rank_id, group_name
),
group_of_name AS (
    SELECT group_in_use.*, named_group.listed_name, named_group.group_label, named_group.rank_count, named_group.ranks
    FROM group_in_use
    LEFT JOIN named_group ON named_group.profile = group_in_use.profile AND named_group.group_name = group_in_use.group_name
),
all_groups AS (
    FROM group_of_name
    UNION ALL BY NAME
    SELECT profile, rank_id, listed_name AS group_name, group_label, rank_count, ranks, 0 AS op_count, 0 AS total_ns
    FROM listed_group
    ANTI JOIN group_of_name
        ON group_of_name.profile = listed_group.profile AND group_of_name.listed_name = listed_group.listed_name
)
SELECT
    group_name,
    group_label,
    rank_count,
    ranks,
    count(*) AS profiled_count,
    string_agg(coalesce(rank_id::VARCHAR, profile), ', ' ORDER BY rank_id, profile) AS profiled_ranks,
    sum(op_count)::BIGINT AS op_count,
    sum(total_ns)::BIGINT AS total_ns
FROM all_groups
GROUP BY group_name, group_label, rank_count, ranks
ORDER BY total_ns DESC, group_label, group_name, ranks
