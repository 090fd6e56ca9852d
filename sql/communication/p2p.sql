-- One row is a send or receive operator of the rank and the other rank of it, in the order of execution. An operator that sends
-- and receives, such as a batch, has a row for each other rank.
--
-- kernel_id         BIGINT   a communication kernel of trace.kernel; NULL when only communication.json or analysis.db has it
-- name              VARCHAR  name of the operator; NULL when the profile lost its text
-- direction         VARCHAR  send, receive, or both
-- group_name        VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- own_rank          BIGINT   this rank within the group; NULL when not known
-- peer_rank         BIGINT   the other rank within the group, as tasks of the operator name it, else the other one of a group
--                            of two; NULL when not known
-- own_global_rank   BIGINT   this rank in the whole job; NULL when not known
-- peer_global_rank  BIGINT   the other rank in the whole job; NULL when the group is not recorded
-- start_ns          BIGINT   start, Unix ns; NULL when not reported
-- elapse_ns         BIGINT   its time, ns
-- size_bytes        BIGINT   bytes that this rank moved to the other one or from it, over links; NULL when not known
-- number            BIGINT   the how-manieth it is of this direction with the other rank of the group, from 0
WITH operator AS (
    SELECT
        breakdown.kernel_id,
        breakdown.name,
        coalesce(
            kernel.direction::VARCHAR,
            CASE breakdown.operation WHEN 'send' THEN 'send' WHEN 'receive' THEN 'receive' ELSE 'both' END
        ) AS direction,
        breakdown.group_name,
        coalesce(breakdown.start_ns, reported.start_ns) AS start_ns,
        breakdown.elapse_ns
    FROM communication.breakdown
    LEFT JOIN trace.kernel USING (kernel_id)
    LEFT JOIN (
        SELECT name, group_name, min(start_ns) AS start_ns
        FROM trace.reported_communication
        GROUP BY name, group_name
        HAVING count(*) = 1
    ) AS reported
        ON breakdown.kernel_id IS NULL
        AND reported.name = breakdown.name
        AND reported.group_name = breakdown.group_name
    WHERE breakdown.kind = 'p2p'
),
of_tasks AS (
    SELECT
        kernel_id,
        source_rank AS own_rank,
        destination_rank AS peer_rank,
        sum(size_bytes) FILTER (role = 'transfer')::BIGINT AS size_bytes
    FROM trace.communication_task
    WHERE destination_rank <> source_rank
    GROUP BY kernel_id, source_rank, destination_rank
),
member AS (
    SELECT group_name, position, global_rank, count(*) OVER (PARTITION BY group_name) AS rank_count
    FROM communication.member
),
own AS (
    SELECT group_name, position
    FROM member
    WHERE global_rank = getvariable('rank_id')
),
other AS (
    SELECT member.group_name, own.position AS own_rank, member.position AS peer_rank
    FROM member
    JOIN own ON own.group_name = member.group_name AND own.position <> member.position
    WHERE member.rank_count = 2
),
placed_operator AS (
    SELECT
        operator.*,
        coalesce(of_tasks.own_rank, own.position, other.own_rank) AS own_rank,
        coalesce(of_tasks.peer_rank, other.peer_rank) AS peer_rank,
        of_tasks.size_bytes
    FROM operator
    LEFT JOIN of_tasks USING (kernel_id)
    LEFT JOIN own ON own.group_name = operator.group_name
    LEFT JOIN other ON other.group_name = operator.group_name
)
SELECT
    placed_operator.kernel_id,
    placed_operator.name,
    placed_operator.direction,
    placed_operator.group_name,
    placed_operator.own_rank,
    placed_operator.peer_rank,
    coalesce(own_member.global_rank, getvariable('rank_id'))::BIGINT AS own_global_rank,
    peer_member.global_rank AS peer_global_rank,
    placed_operator.start_ns,
    placed_operator.elapse_ns,
    placed_operator.size_bytes,
    row_number() OVER (
        PARTITION BY placed_operator.direction, placed_operator.group_name, placed_operator.own_rank, placed_operator.peer_rank
        ORDER BY placed_operator.start_ns, placed_operator.name, placed_operator.kernel_id
    ) - 1 AS number
FROM placed_operator
LEFT JOIN communication.member AS own_member
    ON own_member.group_name = placed_operator.group_name AND own_member.position = placed_operator.own_rank
LEFT JOIN communication.member AS peer_member
    ON peer_member.group_name = placed_operator.group_name AND peer_member.position = placed_operator.peer_rank
ORDER BY placed_operator.start_ns, placed_operator.name, placed_operator.kernel_id, placed_operator.peer_rank
