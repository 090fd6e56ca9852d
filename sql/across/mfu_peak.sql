-- One row is a peak against which FLOPs are measured, over all ranks.
--
-- peak   VARCHAR  the peak, as in the column peaks of mfu.rank
-- ranks  BIGINT   ranks measured against it
WITH of_rank AS (SELECT unnest(string_split(peaks, ', ')) AS peak FROM mfu.rank)
SELECT peak, count(*) AS ranks
FROM of_rank
GROUP BY peak
ORDER BY peak
