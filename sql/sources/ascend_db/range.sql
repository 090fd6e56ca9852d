-- eventType 1 is a push/pop range, 2 a start/end range; 0 and 3 are marks. Python frames that begin with nn.Module are
-- module calls.
WITH traced_class AS (
    SELECT recorded.text_id, class.text_id AS class_id
    FROM trace.string AS recorded
    JOIN trace.string AS class ON class.text = class_of_traced_module(recorded.text)
    WHERE starts_with(recorded.text, 'nn.Module: ')
)
SELECT
    2 * row_id AS range_id,
    'mstx' AS origin,
    CASE eventType WHEN 1 THEN 'push_pop' ELSE 'start_end' END AS api,
    domainId AS domain_id,
    globalTid AS tid,
    message AS name_id,
    message AS recorded_name_id,
    startNs AS start_ns,
    endNs AS end_ns
FROM raw.mstx_events
WHERE eventType IN (1, 2) AND endNs >= startNs
UNION ALL
SELECT
    2 * api.row_id + 1,
    'nn.Module',
    NULL,
    NULL,
    api.globalTid,
    traced_class.class_id,
    api.name,
    api.startNs,
    api.endNs
FROM raw.module_call AS api
JOIN traced_class ON traced_class.text_id = api.name
WHERE api.endNs >= api.startNs
