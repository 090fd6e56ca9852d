-- eventType 0 and 3 are marks; 1 and 2 are ranges.
SELECT row_id AS mark_id, domainId AS domain_id, globalTid AS tid, message AS message_id, startNs AS start_ns
FROM raw.mstx_events
WHERE eventType IN (0, 3) AND startNs IS NOT NULL
