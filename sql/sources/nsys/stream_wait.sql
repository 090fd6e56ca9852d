WITH name_of_wait AS (
    SELECT text_id AS name
    FROM trace.string
    WHERE orders_stream_to_wait(text)
)
SELECT NULL::BIGINT AS stream_id, thread_id(pid, tid) AS tid, start_ns, end_ns
FROM raw.runtime_call
SEMI JOIN name_of_wait USING (name)
WHERE is_host_time(start_ns, end_ns)
UNION ALL
SELECT stream_id, NULL, start_ns, end_ns
FROM raw.device_work
JOIN trace.kernel_family ON kernel_family.name_id = device_work.name
WHERE device_work.is_kernel AND kernel_family.kind = 'wait' AND is_device_time(start_ns, end_ns)
