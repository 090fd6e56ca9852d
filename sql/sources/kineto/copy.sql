WITH work AS (
    SELECT *, nullif(correlation, 0) AS launch_id
    FROM raw.device_work
    WHERE NOT is_kernel
),
string AS (FROM trace.string)
FROM copies_of_gpu(work, string)
