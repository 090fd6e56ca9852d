-- One row is a rank of a communicator, as the training framework made its group. The profiler's own files name a communicator
-- by a hash of its name, so each group has its rows under both names.
--
-- group_name   VARCHAR  the communicator, as operators name it
-- label        VARCHAR  purpose of the group, such as pp, dp, tp or default_group; NULL when not recorded
-- position     BIGINT   rank within the group
-- global_rank  BIGINT   rank in the whole job
WITH named_group AS (
    SELECT group_name, label, position, global_rank
    FROM trace.parallel_group
    UNION ALL
    SELECT hash_of_group(group_name) AS group_name, label, position, global_rank
    FROM trace.parallel_group
)
SELECT
    group_name,
    if(count(DISTINCT label) = 1, min(label), NULL) AS label,
    position,
    min(global_rank) AS global_rank
FROM named_group
GROUP BY group_name, position
HAVING count(DISTINCT global_rank) = 1
