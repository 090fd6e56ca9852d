WITH work AS (
    SELECT *, launch_of(pid, correlation) AS launch_id
    FROM raw.device_work
    WHERE NOT is_kernel
),
string AS (FROM trace.string)
FROM copies_of_gpu(work, string)
