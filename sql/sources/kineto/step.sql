-- A step is a range of the thread that calls prof.step(); before 2023 it was an op.
WITH wrapper AS (
    SELECT name, start_ns, end_ns FROM raw.annotation
    UNION ALL
    SELECT name, start_ns, end_ns FROM raw.cpu_op
)
SELECT
    TRY_CAST(regexp_extract(string.text, '^ProfilerStep#(\d+)$', 1) AS BIGINT) AS step_id,
    min(wrapper.start_ns) AS start_ns,
    max(wrapper.end_ns) AS end_ns
FROM wrapper
JOIN trace.string ON string.text_id = wrapper.name
WHERE is_name_of_step(string.text) AND is_host_time(wrapper.start_ns, wrapper.end_ns)
GROUP BY step_id
HAVING step_id IS NOT NULL
