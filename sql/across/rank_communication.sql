-- One row is a rank and a group of ranks with its communication there, beside that of the other ranks of the group. Collectives
-- of one name in a group are one operator: its ranks leave it together, so what a rank spends in it beyond the rank that spends
-- least, which came last, it waited for that one. Sends and receives have no common names: there all of a rank's time in the
-- group counts, beyond that of the rank with the least.
--
-- profile          VARCHAR  the folder, the identity of the rank
-- rank_id          INTEGER  the rank; NULL when the files tell none
-- group_name       VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- kind             VARCHAR  p2p (send and receive) or collective
-- op_count         BIGINT   operators
-- elapse_ns        BIGINT   their time, ns
-- wait_ns          BIGINT   waits that the profiler counts in those of them whose split is known, ns; NULL when it is of none
-- common_op_count  BIGINT   operators that other ranks have too; all p2p ones of a group in which others have some
-- waited_ns        BIGINT   time in these beyond that of the rank that came last, ns; NULL when there are none
-- last_count       BIGINT   collectives to which it came last, while others waited
WITH operator AS (
    SELECT
        profile,
        rank_id,
        group_name,
        -- Older text exports only number the groups, each rank its own.
        if(regexp_full_match(group_name, '\d{1,4}'), NULL, group_name) AS known_group,
        kind,
        name,
        row_number() OVER (PARTITION BY profile, group_name, name ORDER BY start_ns, kernel_id) AS position,
        1 AS op_count,
        elapse_ns,
        wait_ns
    FROM communication.breakdown
    WHERE name IS NOT NULL
),
counted AS (
    FROM operator
    WHERE kind = 'collective'
    UNION ALL BY NAME
    SELECT
        profile,
        rank_id,
        group_name,
        known_group,
        kind,
        count(*) AS op_count,
        sum(elapse_ns)::BIGINT AS elapse_ns,
        sum(wait_ns)::BIGINT AS wait_ns
    FROM operator
    WHERE kind = 'p2p'
    GROUP BY ALL
),
met AS (
    SELECT
        *,
        count(*) OVER together > 1 AND (kind = 'collective' OR known_group IS NOT NULL) AS is_common,
        elapse_ns - min(elapse_ns) OVER together AS waited_ns,
        max(elapse_ns) OVER together > min(elapse_ns) OVER together AS is_waited_for
    FROM counted
    WINDOW together AS (PARTITION BY known_group, kind, name, position)
)
SELECT
    profile,
    rank_id,
    group_name,
    kind,
    sum(op_count)::BIGINT AS op_count,
    sum(elapse_ns)::BIGINT AS elapse_ns,
    sum(wait_ns)::BIGINT AS wait_ns,
    coalesce(sum(op_count) FILTER (is_common), 0)::BIGINT AS common_op_count,
    sum(waited_ns) FILTER (is_common)::BIGINT AS waited_ns,
    count(*) FILTER (is_common AND kind = 'collective' AND is_waited_for AND waited_ns = 0) AS last_count
FROM met
GROUP BY profile, rank_id, group_name, kind
ORDER BY rank_id, profile, kind, elapse_ns DESC, group_name
