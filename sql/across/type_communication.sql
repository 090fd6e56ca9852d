-- One row is a rank, a group of ranks and a type of communication operators, compared with the other ranks of the group.
-- Its ranks leave a collective together: the rank that spends the least in it came last, and what another rank spends beyond
-- that, it waited. Of sends and receives, the whole time in the group is compared with that of the rank with the least.
--
-- profile          VARCHAR  the folder, the identity of the rank
-- rank_id          INTEGER  the rank; NULL when the files name none
-- group_name       VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- kind             VARCHAR  p2p (send and receive) or collective
-- type             VARCHAR  type, such as hcom_allReduce_; NULL when not known, and for p2p
-- @columns op_count to last_count as in across.rank_communication
WITH group_ranks AS (
    SELECT profile, group_name, concat_ws(': ', min(label), string_agg(global_rank, ', ' ORDER BY position)) AS ranks
    FROM communication.member
    GROUP BY profile, group_name
),
p2p AS (
    SELECT
        profile,
        rank_id,
        group_name,
        -- Older text exports only number the groups, and each rank numbers its own; PyTorch numbers those of the job.
        if(regexp_full_match(group_name, '\d{1,4}'), group_ranks.ranks, group_name) AS known_group,
        count(*) AS op_count,
        sum(elapse_ns)::BIGINT AS elapse_ns,
        sum(waiting_ns)::BIGINT AS wait_ns
    FROM communication.breakdown
    LEFT JOIN group_ranks USING (profile, group_name)
    WHERE kind = 'p2p'
    GROUP BY ALL
),
compared_operator AS (
    SELECT
        profile,
        rank_id,
        group_name,
        'collective' AS kind,
        type,
        1 AS op_count,
        elapse_ns,
        wait_ns,
        rank_count > 1 AS is_common,
        elapse_ns - min(elapse_ns) OVER together AS waited_ns,
        max(elapse_ns) OVER together > min(elapse_ns) OVER together AS is_waited_for
    FROM across.paired_call
    WINDOW together AS (PARTITION BY known_group, paired_step, number)
    UNION ALL BY NAME
    SELECT
        profile,
        rank_id,
        group_name,
        'p2p' AS kind,
        op_count,
        elapse_ns,
        wait_ns,
        known_group IS NOT NULL AND count(*) OVER together > 1 AS is_common,
        elapse_ns - min(elapse_ns) OVER together AS waited_ns
    FROM p2p
    WINDOW together AS (PARTITION BY known_group)
)
SELECT
    profile,
    rank_id,
    group_name,
    kind,
    type,
    sum(op_count)::BIGINT AS op_count,
    sum(elapse_ns)::BIGINT AS elapse_ns,
    sum(wait_ns)::BIGINT AS wait_ns,
    coalesce(sum(op_count) FILTER (is_common), 0)::BIGINT AS common_op_count,
    sum(waited_ns) FILTER (is_common)::BIGINT AS waited_ns,
    count(*) FILTER (is_common AND kind = 'collective' AND is_waited_for AND waited_ns = 0) AS last_count
FROM compared_operator
GROUP BY profile, rank_id, group_name, kind, type
ORDER BY rank_id, profile, kind, elapse_ns DESC, group_name, type
