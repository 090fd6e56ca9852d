-- One row is the time of all communication operators over all ranks.
--
-- op_count               BIGINT  operators; NULL without any
-- elapse_ns              BIGINT  their time, ns: transit, wait, idle and unknown; overlapping operators count fully; NULL
--                                without any
-- transit_ns             BIGINT  transfers over a link, ns; NULL when known for no operator
-- wait_ns                BIGINT  waits for other ranks, ns; NULL when known for no operator
-- synchronization_ns     BIGINT  the part of wait_ns before the first transfer, ns; NULL when known for no operator
-- idle_ns                BIGINT  the rest of the time of operators with a known split, ns; NULL when known for no operator
-- longest_plane_wait_ns  BIGINT  wait of the longest waiting plane of each operator, ns; NULL when planes are not known
-- waiting_ns             BIGINT  waits for other ranks by the plane of each operator that waits longest, waiting_ns of
--                                communication.breakdown, ns; NULL when known for no operator
-- unknown_ns             BIGINT  time of operators whose split is not known, ns; NULL when there are no operators
SELECT
    sum(op_count)::BIGINT AS op_count,
    sum(elapse_ns)::BIGINT AS elapse_ns,
    sum(transit_ns)::BIGINT AS transit_ns,
    sum(wait_ns)::BIGINT AS wait_ns,
    sum(synchronization_ns)::BIGINT AS synchronization_ns,
    sum(idle_ns)::BIGINT AS idle_ns,
    sum(longest_plane_wait_ns)::BIGINT AS longest_plane_wait_ns,
    (SELECT sum(waiting_ns) FROM communication.breakdown)::BIGINT AS waiting_ns,
    sum(unknown_ns)::BIGINT AS unknown_ns
FROM communication.rank_time
