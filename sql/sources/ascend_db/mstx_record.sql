-- eventType 1 and 2 are ranges, 0 and 3 marks; 4000000000 is the connection id of all records of the first API.
SELECT
    if(eventType IN (1, 2), 2 * row_id, NULL) AS range_id,
    if(eventType IN (0, 3), row_id, NULL) AS mark_id,
    nullif(nullif(connectionId, 4000000000), -1) AS connection_id
FROM raw.mstx_events
WHERE eventType BETWEEN 0 AND 3
