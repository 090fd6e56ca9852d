-- One row is a transfer from one rank to another: a send and the receive of the other rank, or, where only one of the two is
-- here, this one with the reason. Of operators that do both, a row has those of both ranks. The first send of a rank to another
-- one in a group is paired with the first receive of that one from it, the second with the second, and so on. Where they are
-- not as many, those are paired that end together, if one distance between the two clocks alone explains most of them. Since
-- both ends finish together, the one that took longer came first and waited.
--
-- group_name               VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- direction                VARCHAR  send, or both where operators send and receive
-- number                   BIGINT   the how-manieth it is between these two ranks in this group, from 0
-- source_rank              BIGINT   rank within the group that sends, where both do the lower one; NULL when not known
-- destination_rank         BIGINT   rank within the group that receives, where both do the higher one; NULL when not known
-- source_global_rank       BIGINT   rank of the source in the whole job; NULL when not known
-- destination_global_rank  BIGINT   rank of the destination in the whole job; NULL when not known
-- source_profile           VARCHAR  the folder of the source; NULL when its operator is not found
-- destination_profile      VARCHAR  the folder of the destination; NULL when its operator is not found
-- source_name              VARCHAR  name of the operator of the source; NULL when it is not found, or its text lost
-- destination_name         VARCHAR  name of the operator of the destination; NULL when it is not found, or its text lost
-- source_start_ns          BIGINT   start at the source by its own clock, Unix ns; NULL when it is not found
-- source_elapse_ns         BIGINT   time of the operator of the source, ns; NULL when it is not found
-- destination_start_ns     BIGINT   start at the destination by its own clock, Unix ns; NULL when it is not found
-- destination_elapse_ns    BIGINT   time of the operator of the destination, ns; NULL when it is not found
-- size_bytes               BIGINT   bytes moved, as the end says that moved more; NULL when not known
-- waited_by                VARCHAR  source or destination, whichever came first; NULL when they took as long, or one is missing
-- waited_ns                BIGINT   how much longer it took, ns; NULL when one is missing
-- reason                   VARCHAR  why the other end is not found; NULL when it is
WITH operator AS (
    SELECT
        *,
        coalesce(direction = 'receive' OR (direction = 'both' AND own_rank > peer_rank), false) AS is_destination,
        if(direction = 'both', 'both', 'send') AS transfer,
        -- Older text exports only number the groups, and each rank numbers its own; PyTorch numbers those of the job, and says
        -- their ranks.
        peer_rank IS NOT NULL
            AND (NOT coalesce(regexp_full_match(group_name, '\d{1,4}'), true) OR peer_global_rank IS NOT NULL) AS is_named,
        count(*) OVER (PARTITION BY profile, direction, group_name, own_rank, peer_rank) AS count,
        count(*) OVER (
            PARTITION BY direction, group_name, own_rank, peer_rank, own_global_rank, peer_global_rank, number
        ) AS twins
    FROM communication.p2p
),
-- The keys in which both ends must agree: the group, by its name and, where recorded, its ranks.
keyed AS (
    SELECT
        *,
        if(
            is_named AND twins = 1,
            [transfer, group_name]
            || if(is_destination, [peer_rank, own_rank], [own_rank, peer_rank])::VARCHAR[]
            || if(peer_global_rank IS NULL, [], list_sort([own_global_rank, peer_global_rank]))::VARCHAR[],
            NULL
        ) AS pair
    FROM operator
),
sequence AS (
    SELECT
        pair,
        is_destination,
        count(*) AS count,
        {
            'operations': list(transfer ORDER BY number),
            'sizes': list(NULL::BIGINT ORDER BY number),
            'are_together': list(true ORDER BY number),
            'starts': list(start_ns ORDER BY number),
            'ends': list(start_ns + elapse_ns ORDER BY number),
            'clock': NULL::BIGINT[]
        } AS calls
    FROM keyed
    WHERE pair IS NOT NULL
    GROUP BY pair, is_destination
    HAVING count(start_ns) = count(*)
),
answer AS (
    SELECT pair, paired_calls(list(calls ORDER BY is_destination)) AS numbers
    FROM sequence
    GROUP BY pair
    HAVING count(*) = 2 AND min(count) < max(count)
),
numbered_message AS (
    SELECT
        keyed.* EXCLUDE (number),
        coalesce(answer.numbers[if(is_destination, 2, 1)][number + 1] - 1, number) AS number,
        if(answer.pair IS NULL, keyed.pair || [count::VARCHAR], keyed.pair) AS key
    FROM keyed
    LEFT JOIN answer USING (pair)
),
other_count AS (
    SELECT transfer, group_name, is_destination, own_rank, peer_rank, max(count) AS count
    FROM operator
    GROUP BY transfer, group_name, is_destination, own_rank, peer_rank
),
transfer AS (
    SELECT
        coalesce(source.group_name, destination.group_name) AS group_name,
        coalesce(source.transfer, destination.transfer) AS transfer,
        coalesce(source.number, destination.number) AS number,
        coalesce(source.own_rank, destination.peer_rank) AS source_rank,
        coalesce(source.peer_rank, destination.own_rank) AS destination_rank,
        coalesce(source.own_global_rank, destination.peer_global_rank) AS source_global_rank,
        coalesce(destination.own_global_rank, source.peer_global_rank) AS destination_global_rank,
        source.profile AS source_profile,
        destination.profile AS destination_profile,
        source.name AS source_name,
        destination.name AS destination_name,
        source.start_ns AS source_start_ns,
        source.elapse_ns AS source_elapse_ns,
        destination.start_ns AS destination_start_ns,
        destination.elapse_ns AS destination_elapse_ns,
        greatest(source.size_bytes, destination.size_bytes) AS size_bytes,
        coalesce(source.is_named, destination.is_named) AS is_named,
        coalesce(source.count, destination.count) AS count
    FROM (FROM numbered_message WHERE NOT is_destination) AS source
    FULL JOIN (FROM numbered_message WHERE is_destination) AS destination
        ON destination.key = source.key AND destination.number = source.number
)
SELECT
    transfer.group_name,
    transfer.transfer AS direction,
    transfer.number,
    transfer.source_rank,
    transfer.destination_rank,
    transfer.source_global_rank,
    transfer.destination_global_rank,
    transfer.source_profile,
    transfer.destination_profile,
    transfer.source_name,
    transfer.destination_name,
    transfer.source_start_ns,
    transfer.source_elapse_ns,
    transfer.destination_start_ns,
    transfer.destination_elapse_ns,
    transfer.size_bytes,
    CASE sign(source_elapse_ns - destination_elapse_ns) WHEN 1 THEN 'source' WHEN -1 THEN 'destination' END AS waited_by,
    abs(source_elapse_ns - destination_elapse_ns) AS waited_ns,
    CASE
        WHEN source_profile IS NOT NULL AND destination_profile IS NOT NULL THEN NULL
        WHEN NOT is_named THEN 'its group, or the other rank, has no name that both ranks know'
        WHEN other.count IS NULL THEN 'the other rank has none of them here'
        WHEN other.count <> transfer.count
            THEN format('this rank has {} of them, the other one {}', transfer.count, other.count)
        ELSE 'several folders have the same rank'
    END AS reason
FROM transfer
LEFT JOIN other_count AS other
    ON other.transfer = transfer.transfer
    AND other.group_name = transfer.group_name
    AND other.is_destination = (transfer.source_profile IS NOT NULL)
    AND other.own_rank = if(transfer.source_profile IS NOT NULL, transfer.destination_rank, transfer.source_rank)
    AND other.peer_rank = if(transfer.source_profile IS NOT NULL, transfer.source_rank, transfer.destination_rank)
ORDER BY
    transfer.group_name,
    transfer.source_rank,
    transfer.destination_rank,
    direction,
    transfer.number,
    transfer.source_profile,
    transfer.destination_profile
