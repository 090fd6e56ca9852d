-- eventType 1 is a push/pop range, 2 a start/end range; 0 and 3 are marks. Python frames that begin with nn.Module are
-- module calls.
WITH traced_class AS (
    SELECT recorded.text_id, class.text_id AS class_id
    FROM trace.string AS recorded
    JOIN trace.string AS class ON class.text = class_of_traced_module(recorded.text)
    WHERE starts_with(recorded.text, 'nn.Module: ')
)
SELECT
    2 * mstx.row_id AS range_id,
    'mstx' AS origin,
    role_of_mark(message.text, domain.text)
        ::ENUM('module', 'step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention') AS role,
    mstx.eventType = 2 AS is_module_candidate,
    mstx.domainId AS domain_id,
    mstx.globalTid AS tid,
    mstx.message AS name_id,
    mstx.message AS recorded_name_id,
    mstx.startNs AS start_ns,
    mstx.endNs AS end_ns,
    mstx.endNs - mstx.startNs AS duration_ns
FROM raw.mstx_events AS mstx
LEFT JOIN trace.string AS message ON message.text_id = mstx.message
LEFT JOIN trace.string AS domain ON domain.text_id = mstx.domainId
WHERE eventType IN (1, 2) AND is_host_time(startNs, endNs)
UNION ALL
SELECT
    2 * api.row_id + 1,
    'nn.Module',
    'module'::ENUM('module', 'step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention'),
    false,
    NULL,
    api.globalTid,
    traced_class.class_id,
    api.name,
    api.startNs,
    api.endNs,
    api.endNs - api.startNs
FROM raw.module_call AS api
JOIN traced_class ON traced_class.text_id = api.name
WHERE is_host_time(api.startNs, api.endNs)
