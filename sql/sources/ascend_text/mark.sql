SELECT
    event_id AS mark_id,
    mstx.domain AS domain_id,
    thread_id(process.pid, mstx.tid) AS tid,
    name AS message_id,
    role_of_mark(message.text, domain.text)::ENUM('step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention')
        AS role,
    start_ns
FROM raw.mstx
CROSS JOIN trace.process
LEFT JOIN trace.string AS message ON message.text_id = mstx.name
LEFT JOIN trace.string AS domain ON domain.text_id = mstx.domain
WHERE event_type IN ('marker', 'marker_ex') AND is_host_time(start_ns, start_ns)
