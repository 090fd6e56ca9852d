-- One row is a rank, a group and a type of collectives, and how long the rank waits in them for the last one. Only where all
-- collectives of the type are compared, and all ranks of the group are here; where neither the framework nor a link says which
-- ranks those are, the ranks that are here count as all.
--
-- @guard several ranks
--
-- profile          VARCHAR  the folder, the identity of the rank
-- rank_id          INTEGER  the rank; NULL when the files name none
-- group_name       VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- type             VARCHAR  type, such as hcom_allReduce_; NULL when not known
-- op_count         BIGINT   operators
-- elapse_ns        BIGINT   their time, ns
-- waited_ns        BIGINT   the part of it in which the rank waits for the one that comes last, ns
WITH linked_group AS (
    -- Ranks within a group are numbered from 0; in a ring a rank has links to two others alone.
    SELECT profile, group_name, max(greatest(source_rank, destination_rank)) + 1 AS rank_count
    FROM communication.link
    GROUP BY profile, group_name
),
present AS (
    SELECT group_name, count(DISTINCT profile) AS rank_count
    FROM across.type_communication
    GROUP BY group_name
),
missing AS (
    SELECT DISTINCT profile, group_name
    FROM communication.member
    WHERE global_rank NOT IN (SELECT rank_id FROM communication.parallel_rank WHERE rank_id IS NOT NULL)
    UNION ALL
    SELECT linked_group.profile, linked_group.group_name
    FROM linked_group
    JOIN present ON present.group_name IS NOT DISTINCT FROM linked_group.group_name
    WHERE linked_group.rank_count > present.rank_count
)
SELECT profile, rank_id, group_name, type, op_count, elapse_ns, waited_ns
FROM across.type_communication AS communication
ANTI JOIN missing
    ON missing.profile = communication.profile AND missing.group_name IS NOT DISTINCT FROM communication.group_name
WHERE kind = 'collective' AND common_op_count = op_count
ORDER BY rank_id, profile, group_name, type
