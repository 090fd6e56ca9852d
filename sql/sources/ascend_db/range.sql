-- eventType 1 is a push/pop range, 2 a start/end range; 0 and 3 are marks.
SELECT
    row_id AS range_id,
    'mstx' AS origin,
    CASE eventType WHEN 1 THEN 'push_pop' ELSE 'start_end' END AS api,
    domainId AS domain_id,
    globalTid AS tid,
    message AS name_id,
    startNs AS start_ns,
    endNs AS end_ns
FROM raw.mstx_events
WHERE eventType IN (1, 2) AND endNs >= startNs
