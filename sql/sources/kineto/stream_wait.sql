WITH name_of_wait AS (
    SELECT text_id AS name
    FROM trace.string
    WHERE orders_stream_to_wait(text)
)
SELECT NULL::BIGINT AS stream_id, thread_id(pid, tid) AS tid, start_ns, end_ns
FROM raw.runtime_call
SEMI JOIN name_of_wait USING (name)
WHERE is_host_time(start_ns, end_ns)
