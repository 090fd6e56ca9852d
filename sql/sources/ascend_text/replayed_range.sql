-- A graph is replayed inside some of the modules around the run of which it was captured: these count once.
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
-- A launch in an op is where the op is, as for all kernels.
place AS (
    SELECT
        launch.tid,
        call.tid AS host_tid,
        coalesce(max(op.start_ns), call.start_ns) AS start_ns,
        coalesce(arg_max(op.end_ns, op.start_ns), call.end_ns) AS end_ns
    FROM launch
    JOIN trace.launch AS call USING (launch_id)
    LEFT JOIN trace.op ON op.tid = call.tid AND op.start_ns <= call.start_ns AND op.end_ns >= call.end_ns
    GROUP BY launch.tid, call.tid, call.start_ns, call.end_ns
),
around_launch AS (
    SELECT
        place.tid,
        range.name_id,
        row_number() OVER (PARTITION BY place.tid ORDER BY range.start_ns, range.end_ns DESC, range.range_id) AS depth
    FROM place
    JOIN trace.range
        ON range.tid = place.host_tid
        AND range.start_ns <= place.start_ns
        AND range.end_ns >= place.end_ns
    LEFT JOIN trace.string AS domain ON domain.text_id = range.domain_id
    WHERE range.role = 'module' OR (range.is_module_candidate AND domain.text IN getvariable('module_domains'))
),
around_run AS (
    SELECT range_id, tid, name, row_number() OVER (PARTITION BY tid ORDER BY start_ns) AS depth
    FROM raw.replayed_range
    WHERE is_around
),
-- The outermost modules that both have.
shared AS (
    SELECT around_run.range_id
    FROM around_run
    JOIN around_launch USING (tid, depth)
    WHERE around_launch.name_id = around_run.name
    QUALIFY row_number() OVER (PARTITION BY tid ORDER BY depth) = depth
)
SELECT
    replayed_range.range_id,
    launch.launch_id,
    replayed_range.tid,
    'module' AS role,
    false AS is_module_candidate,
    NULL::BIGINT AS domain_id,
    replayed_range.name AS name_id,
    replayed_range.is_backward,
    replayed_range.start_ns,
    replayed_range.end_ns
FROM raw.replayed_range
LEFT JOIN launch USING (tid)
ANTI JOIN shared USING (range_id)
