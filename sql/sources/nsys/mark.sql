SELECT
    event_id AS mark_id,
    coalesce(nvtx_mark.domain, text_id(domain_of_annotation(string.text))) AS domain_id,
    thread_id(pid, tid) AS tid,
    if(nvtx_mark.domain IS NULL, text_id(name_in_domain(string.text)), nvtx_mark.name) AS message_id,
    NULL::ENUM('step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention') AS role,
    start_ns
FROM raw.nvtx_mark
LEFT JOIN trace.string ON string.text_id = nvtx_mark.name
WHERE is_host_time(start_ns, start_ns)
