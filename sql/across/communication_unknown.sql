-- One row is a reason why the time of communication operators is not split, over all ranks, the reason with the most time
-- first.
--
-- reason     VARCHAR  why the split is not known
-- op_count   BIGINT   operators
-- elapse_ns  BIGINT   their time without the transit and wait that are known, ns
SELECT
    reason,
    count(*) AS op_count,
    sum(elapse_ns - coalesce(transit_ns, 0) - coalesce(wait_ns, 0))::BIGINT AS elapse_ns
FROM communication.time
WHERE reason IS NOT NULL
GROUP BY reason
ORDER BY elapse_ns DESC, reason
