-- One row is a cause for which ranks waited in collectives, the one for which they waited longest first.
--
-- cause          VARCHAR  why the last rank came late, as in across.collective; NULL when not known
-- collectives    BIGINT   collectives with this cause
-- all_waited_ns  BIGINT   how long all ranks waited in them, ns
SELECT cause, count(*) AS collectives, sum(all_waited_ns)::BIGINT AS all_waited_ns
FROM across.collective
GROUP BY cause
ORDER BY all_waited_ns DESC, cause
