SELECT
    event_id AS range_id,
    'mstx' AS origin,
    role_of_mark(message.text, domain.text)
        ::ENUM('module', 'step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention') AS role,
    event_type = 'start/end' AS is_module_candidate,
    mstx.domain AS domain_id,
    thread_id(process.pid, mstx.tid) AS tid,
    name AS name_id,
    name AS recorded_name_id,
    start_ns,
    end_ns,
    end_ns - start_ns AS duration_ns
FROM raw.mstx
CROSS JOIN trace.process
LEFT JOIN trace.string AS message ON message.text_id = mstx.name
LEFT JOIN trace.string AS domain ON domain.text_id = mstx.domain
WHERE event_type IN ('push/pop', 'start/end') AND is_host_time(start_ns, end_ns)
UNION ALL
SELECT
    event_id,
    'nn.Module',
    'module'::ENUM('module', 'step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention'),
    false,
    NULL,
    thread_id(pid, tid),
    class,
    name,
    start_ns,
    end_ns,
    end_ns - start_ns
FROM raw.module_call
WHERE is_host_time(start_ns, end_ns)
