-- Without trace_view.json, kernel_details.csv still names the steps; without both files, the times that the profiler itself
-- reported for them do.
SELECT
    TRY_CAST(regexp_extract(string.text, '^ProfilerStep#(\d+)$', 1) AS BIGINT) AS step_id,
    min(cpu_op.start_ns) AS start_ns,
    max(cpu_op.end_ns) AS end_ns
FROM raw.cpu_op
JOIN trace.string ON string.text_id = cpu_op.name
WHERE starts_with(string.text, 'ProfilerStep#') AND is_host_time(cpu_op.start_ns, cpu_op.end_ns)
GROUP BY step_id
HAVING step_id IS NOT NULL
UNION ALL
SELECT DISTINCT step_id, NULL, NULL
FROM raw.kernel_detail
WHERE step_id IS NOT NULL AND NOT EXISTS (FROM raw.cpu_op)
UNION ALL
SELECT DISTINCT step_id, NULL, NULL
FROM trace.reported_step
WHERE step_id IS NOT NULL AND NOT EXISTS (FROM raw.cpu_op) AND NOT EXISTS (FROM raw.kernel_detail)
