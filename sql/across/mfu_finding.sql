-- One row is a kind of finding in the numbers of MFU, over all ranks.
--
-- finding  VARCHAR  a finding of mfu.audit
-- rows     BIGINT   how often it was made
SELECT finding, count(*) AS rows
FROM mfu.audit
GROUP BY finding
ORDER BY finding
