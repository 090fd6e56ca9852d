-- One row is a reason why operators that send or receive are not paired with those of the other rank.
--
-- reason     VARCHAR  why the other end is not found
-- operators  BIGINT   operators without it
SELECT reason, count(*) AS operators
FROM across.p2p
WHERE reason IS NOT NULL
GROUP BY reason
ORDER BY reason
