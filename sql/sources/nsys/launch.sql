WITH replay AS (
    SELECT text_id AS name
    FROM trace.string
    WHERE contains(text, 'GraphLaunch')
)
SELECT
    launch_of(pid, correlation) AS launch_id,
    thread_id(pid, tid) AS tid,
    start_ns,
    end_ns,
    name AS name_id,
    coalesce(name IN (FROM replay), false) AS is_replay
FROM raw.runtime_call
WHERE launch_of(pid, correlation) IS NOT NULL AND is_host_time(start_ns, end_ns)
