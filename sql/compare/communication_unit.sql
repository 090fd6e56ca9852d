-- One row is the communication operators of one type, group role and size in one unit, with their time as transfer and wait.
--
-- operation        VARCHAR  operation of the operators, in lower case, such as allreduce; NULL when not known
-- kind             VARCHAR  p2p (send and receive) or collective
-- group_role       VARCHAR  purpose of the group, such as dp or tp; NULL when not recorded
-- is_of_all_ranks  BOOLEAN  whether the group is that of all ranks that the profile knows of; NULL when not recorded
-- group_size       BIGINT   ranks of the group; NULL when not recorded
-- elements_from    BIGINT   how many elements the operators were called with: this many, or more up to twice as many; NULL when
--                           not recorded
-- unit_id          BIGINT   a unit of compare.unit; NULL for operators of no unit
-- op_count         BIGINT   operators
-- elapse_ns        BIGINT   their time, ns; overlapping operators count fully
-- transit_ns       BIGINT   transfers over a link, ns; NULL when known for none
-- wait_ns          BIGINT   waits for other ranks, ns; NULL when known for none
-- unknown_ns       BIGINT   time of operators whose split is not known, ns
-- size_bytes       BIGINT   bytes moved over links; NULL when not known
-- transfer_ns      BIGINT   time of these transfers, ns; overlapping transfers count fully; NULL when not known
WITH member AS (
    SELECT
        group_name,
        min(label) AS group_role,
        count(*) AS group_size,
        count(*) = (SELECT count(DISTINCT global_rank) FROM communication.member) AS is_of_all_ranks
    FROM communication.member
    GROUP BY group_name
)
SELECT
    breakdown.operation,
    breakdown.kind,
    member.group_role,
    member.is_of_all_ranks,
    member.group_size,
    CASE
        WHEN communication.element_count > 0 THEN 1::BIGINT << (length(bin(communication.element_count)) - 1)::BIGINT
        ELSE communication.element_count
    END AS elements_from,
    kernel_of_unit.unit_id,
    count(*) AS op_count,
    sum(breakdown.elapse_ns)::BIGINT AS elapse_ns,
    sum(breakdown.transit_ns)::BIGINT AS transit_ns,
    sum(breakdown.wait_ns)::BIGINT AS wait_ns,
    coalesce(
        sum(breakdown.elapse_ns - coalesce(breakdown.transit_ns, 0) - coalesce(breakdown.wait_ns, 0))
            FILTER (breakdown.idle_ns IS NULL),
        0
    )::BIGINT AS unknown_ns,
    sum(breakdown.size_bytes)::BIGINT AS size_bytes,
    sum(breakdown.transfer_ns)::BIGINT AS transfer_ns
FROM communication.breakdown
LEFT JOIN member USING (group_name)
LEFT JOIN trace.communication USING (kernel_id)
LEFT JOIN compare.kernel_of_unit USING (kernel_id)
GROUP BY ALL
