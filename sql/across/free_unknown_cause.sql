-- One row is a cause of idle time that profiles do not show, over all ranks.
--
-- cause   VARCHAR  a cause of free.unknown_cause
-- reason  VARCHAR  why it is not known
-- ranks   BIGINT   ranks for which it is not known for that reason
SELECT cause, reason, count(*) AS ranks
FROM free.unknown_cause
GROUP BY cause, reason
ORDER BY cause, reason, ranks
