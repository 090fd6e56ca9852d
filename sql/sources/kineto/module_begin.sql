WITH numbered AS (
    SELECT text_id, number_of_traced_module(text) AS number
    FROM trace.string
    WHERE text_id IN (SELECT name FROM raw.module_call)
)
SELECT
    thread_id(pid, tid) AS tid,
    name AS name_id,
    class AS class_id,
    numbered.number,
    start_ns,
    end_ns,
    python_id,
    caller_id
FROM raw.module_call
LEFT JOIN numbered ON numbered.text_id = module_call.name
WHERE is_host_time(start_ns, end_ns)
UNION ALL
-- Other functions ask the same, but not first of all.
SELECT thread_id(pid, tid), NULL, NULL, NULL, start_ns, NULL, python_id, caller_id
FROM raw.module_entry
WHERE python_id = caller_id + 1
