-- One row is a peak that MFU is measured by, over all ranks.
--
-- peak   VARCHAR  the peak, as in the column peaks of mfu.rank
-- ranks  BIGINT   ranks that are measured by it
WITH of_rank AS (SELECT unnest(string_split(peaks, ', ')) AS peak FROM mfu.rank)
SELECT peak, count(*) AS ranks
FROM of_rank
GROUP BY peak
ORDER BY peak
