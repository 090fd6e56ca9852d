WITH name_of_wait AS (
    SELECT text_id AS call
    FROM trace.string
    WHERE orders_stream_to_wait(text)
)
SELECT NULL::BIGINT AS stream_id, thread_id(process.pid, host_api.tid) AS tid, host_api.start_ns, host_api.end_ns
FROM raw.host_api
SEMI JOIN name_of_wait USING (call)
CROSS JOIN trace.process
WHERE is_host_time(host_api.start_ns, host_api.end_ns)
