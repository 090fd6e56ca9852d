-- The call that launched carries the id of the innermost op around it. Before 2023 some calls carried an id of their own.
SELECT cpu_op.event_id AS op_id, runtime_call.correlation AS launch_id
FROM raw.runtime_call
JOIN raw.cpu_op USING (external_id)
WHERE runtime_call.correlation <> 0 AND is_host_time(cpu_op.start_ns, cpu_op.end_ns)
