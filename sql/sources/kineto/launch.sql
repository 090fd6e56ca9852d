WITH call AS (SELECT *, nullif(correlation, 0) AS launch_id FROM raw.runtime_call),
string AS (FROM trace.string)
FROM launches_of_gpu(call, string)
