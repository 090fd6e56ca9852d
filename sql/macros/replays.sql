-- The kernels of replayed graphs whose ops are known, with the launch of each. `replayed` and `kernels` are the names of CTEs
-- of raw.replayed_kernel and trace.kernel. Streams and tasks would tell kernels that run at the same time apart, but are
-- columns that hardly any other question reads.
CREATE MACRO IF NOT EXISTS kernels_of_replays(replayed, kernels) AS TABLE
    SELECT kernel.kernel_id, kernel.launch_id, replayed.op_id, replayed.tid, replayed.known_by, replayed.modules_by
    FROM query_table(replayed) AS replayed
    JOIN query_table(kernels) AS kernel
        ON kernel.start_ns = replayed.start_ns AND kernel.end_ns = replayed.end_ns
    WHERE kernel.kind = 'compute';

-- The launch of each replay, as all of its kernels name it: tid and launch_id. `kernels` is the name of a CTE of the rows
-- above.
CREATE MACRO IF NOT EXISTS launches_of_replays(kernels) AS TABLE
    SELECT tid, min(launch_id) AS launch_id
    FROM query_table(kernels)
    GROUP BY tid
    HAVING min(launch_id) = max(launch_id);

-- The ranges of each replay, as trace.replayed_range has them. A graph is replayed inside some of the modules around the run of
-- which it was captured: these count once. `ranges` is the name of a CTE of raw.replayed_range, `launches` that of the rows
-- above; `calls`, `ops`, `host_ranges` and `strings` are those of trace.launch, trace.op, trace.range and trace.string.
CREATE MACRO IF NOT EXISTS ranges_of_replays(ranges, launches, calls, ops, host_ranges, strings) AS TABLE
    -- A launch in an op is where the op is, as for all kernels.
    WITH place AS (
        SELECT
            launch.tid,
            call.tid AS host_tid,
            coalesce(max(op.start_ns), call.start_ns) AS start_ns,
            coalesce(arg_max(op.end_ns, op.start_ns), call.end_ns) AS end_ns
        FROM query_table(launches) AS launch
        JOIN query_table(calls) AS call USING (launch_id)
        LEFT JOIN query_table(ops) AS op
            ON op.tid = call.tid AND op.start_ns <= call.start_ns AND op.end_ns >= call.end_ns
        GROUP BY launch.tid, call.tid, call.start_ns, call.end_ns
    ),
    around_launch AS (
        SELECT
            place.tid,
            range.name_id,
            row_number() OVER (PARTITION BY place.tid ORDER BY range.start_ns, range.end_ns DESC, range.range_id) AS depth
        FROM place
        JOIN query_table(host_ranges) AS range
            ON range.tid = place.host_tid
            AND range.start_ns <= place.start_ns
            AND range.end_ns >= place.end_ns
        LEFT JOIN query_table(strings) AS domain ON domain.text_id = range.domain_id
        WHERE range.role = 'module' OR (range.is_module_candidate AND domain.text IN getvariable('module_domains'))
    ),
    around_run AS (
        SELECT range_id, tid, name, row_number() OVER (PARTITION BY tid ORDER BY start_ns) AS depth
        FROM query_table(ranges)
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
        replayed.range_id,
        launch.launch_id,
        replayed.tid,
        'module' AS role,
        false AS is_module_candidate,
        NULL::BIGINT AS domain_id,
        replayed.name AS name_id,
        replayed.is_backward,
        replayed.start_ns,
        replayed.end_ns
    FROM query_table(ranges) AS replayed
    LEFT JOIN query_table(launches) AS launch USING (tid)
    ANTI JOIN shared USING (range_id);
