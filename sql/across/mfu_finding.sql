-- One row is a kind of finding about FLOPs, over all ranks.
--
-- finding  VARCHAR  a finding of mfu.audit
-- rows     BIGINT   findings of this kind
SELECT finding, count(*) AS rows
FROM mfu.audit
GROUP BY finding
ORDER BY finding
