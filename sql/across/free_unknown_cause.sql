-- One row is a cause of free time that profiles cannot tell, over all ranks.
--
-- cause   VARCHAR  a cause of free.unknown_cause
-- reason  VARCHAR  why it is not known
-- ranks   BIGINT   ranks of which it is not known for that reason
SELECT cause, reason, count(*) AS ranks
FROM free.unknown_cause
GROUP BY cause, reason
ORDER BY cause, reason, ranks
