SELECT thread_id(pid, tid) AS tid, name AS name_id, start_ns, end_ns, python_id, caller_id
FROM raw.module_call
WHERE end_ns >= start_ns
UNION ALL
-- Other functions ask the same, but not first of all.
SELECT thread_id(pid, tid), NULL, start_ns, NULL, python_id, caller_id
FROM raw.module_entry
WHERE python_id = caller_id + 1
