-- One row is a producer of mstx marks or ranges, over all ranks, the one with the most first. Records that several ranks share
-- on one host, such as the devices of one database, count once.
--
-- producer     VARCHAR  who makes them, as in mstx.event; NULL when the message is lost
-- kind         VARCHAR  range or mark
-- event_count  BIGINT   marks or ranges
SELECT producer, kind, sum(event_count)::BIGINT AS event_count
FROM across.mstx
GROUP BY producer, kind
ORDER BY event_count DESC, producer, kind
