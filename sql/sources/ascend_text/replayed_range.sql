WITH replayed AS (
    FROM raw.replayed_kernel
),
kernel AS (
    FROM trace.kernel
),
replayed_kernel AS (
    FROM kernels_of_replays(replayed, kernel)
),
launch AS (
    FROM launches_of_replays(replayed_kernel)
),
replayed_range AS (
    FROM raw.replayed_range
),
call AS (
    FROM trace.launch
),
host_op AS (
    FROM trace.op
),
host_range AS (
    FROM trace.range
),
recorded_string AS (
    FROM trace.string
)
FROM ranges_of_replays(replayed_range, launch, call, host_op, host_range, recorded_string)
