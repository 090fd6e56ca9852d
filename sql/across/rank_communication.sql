-- One row is a rank and a group of ranks with the rank's communication in the group, compared with that of the other ranks of
-- the group. Its ranks leave a collective (across.paired_call) together: the rank that spends the least in it came last, and
-- another rank waited for the time that it spends beyond that. For sends and receives, the whole time in the group is compared
-- with that of the rank with the least.
--
-- profile          VARCHAR  the folder, the identity of the rank
-- rank_id          INTEGER  the rank; NULL when the files name none
-- group_name       VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- kind             VARCHAR  p2p (send and receive) or collective
-- op_count         BIGINT   operators
-- elapse_ns        BIGINT   their time, ns
-- wait_ns          BIGINT   waits for other ranks, here or not, waiting_ns of communication.breakdown, ns; NULL when known for
--                           no operator
-- common_op_count  BIGINT   operators that other ranks have too; all p2p ones of a group in which others have some
-- waited_ns        BIGINT   time in these operators beyond that of the rank that spent the least, ns; NULL without any
-- last_count       BIGINT   collectives to which the rank came last while others waited
SELECT
    profile,
    rank_id,
    group_name,
    kind,
    sum(op_count)::BIGINT AS op_count,
    sum(elapse_ns)::BIGINT AS elapse_ns,
    sum(wait_ns)::BIGINT AS wait_ns,
    sum(common_op_count)::BIGINT AS common_op_count,
    sum(waited_ns)::BIGINT AS waited_ns,
    sum(last_count)::BIGINT AS last_count
FROM across.type_communication
GROUP BY profile, rank_id, group_name, kind
ORDER BY rank_id, profile, kind, elapse_ns DESC, group_name
