-- One row is a layer and name of host calls, of a profile without host calls where the profiler reported their sums
-- (api_statistic.csv), of all steps together. With a step chosen there is no row.
--
-- @guard trace.reported_host_call
--
-- @columns level to max_ns as in trace.reported_host_call
SELECT level, name_id, role, call_count, total_ns, min_ns, max_ns
FROM trace.reported_host_call
WHERE getvariable('step_id') IS NULL AND NOT EXISTS (FROM trace.host_api)
