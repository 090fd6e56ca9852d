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
    WITH RECURSIVE graph_call AS (
        SELECT
            row_number() OVER (ORDER BY launch.tid, call.tid, call.start_ns, call.end_ns) AS item_id,
            launch.tid AS replay_tid,
            call.tid,
            call.start_ns,
            call.end_ns
        FROM query_table(launches) AS launch
        JOIN query_table(calls) AS call USING (launch_id)
    ),
    op_span AS (
        SELECT op_id AS span_id, tid, start_ns, end_ns
        FROM query_table(ops)
    ),
    op_with_call AS (
        FROM spans_with(graph_call, op_span)
    ),
    op_around_call AS (
        FROM innermost(graph_call, op_with_call)
    ),
    -- A launch in an op is where the op is, as for all kernels.
    graph_place AS (
        SELECT
            graph_call.item_id,
            graph_call.replay_tid,
            graph_call.tid,
            coalesce(op_with_call.start_ns, graph_call.start_ns) AS start_ns,
            coalesce(op_with_call.end_ns, graph_call.end_ns) AS end_ns
        FROM graph_call
        LEFT JOIN op_around_call USING (item_id)
        LEFT JOIN op_with_call USING (span_id)
    ),
    module_range AS (
        SELECT range.range_id AS span_id, range.tid, range.start_ns, range.end_ns, range.name_id
        FROM query_table(host_ranges) AS range
        LEFT JOIN query_table(strings) AS domain ON domain.text_id = range.domain_id
        WHERE range.role = 'module' OR (range.is_module_candidate AND domain.text IN getvariable('module_domains'))
    ),
    range_with_place AS (
        FROM spans_with(graph_place, module_range)
    ),
    around_place AS (
        SELECT item_id, span_id
        FROM innermost(graph_place, range_with_place)
        UNION ALL
        SELECT inside.item_id, range.parent_id
        FROM around_place AS inside
        JOIN range_with_place AS range USING (span_id)
        WHERE range.parent_id IS NOT NULL
    ),
    around_launch AS (
        SELECT
            graph_place.replay_tid AS tid,
            range.name_id,
            row_number() OVER (PARTITION BY replay_tid ORDER BY range.start_ns, range.end_ns DESC, span_id) AS depth
        FROM around_place
        JOIN graph_place USING (item_id)
        JOIN module_range AS range USING (span_id)
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
