-- eventType 0 and 3 are marks; 1 and 2 are ranges.
SELECT
    mstx.row_id AS mark_id,
    mstx.domainId AS domain_id,
    mstx.globalTid AS tid,
    mstx.message AS message_id,
    role_of_mark(message.text, domain.text)::ENUM('step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention')
        AS role,
    mstx.startNs AS start_ns
FROM raw.mstx_events AS mstx
LEFT JOIN trace.string AS message ON message.text_id = mstx.message
LEFT JOIN trace.string AS domain ON domain.text_id = mstx.domainId
WHERE eventType IN (0, 3) AND is_host_time(startNs, startNs)
