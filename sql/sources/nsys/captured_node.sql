-- A node that runs is the copy of a node that was captured, perhaps over several copies; what was captured has no original. Of
-- a graph from before the recording there are only the events of copies, which say nothing. An op has two numbers that follow
-- each other: an op that it calls is one by itself.
WITH RECURSIVE event AS (
    SELECT
        pid,
        node_id,
        min(start_ns) AS start_ns,
        arg_min(thread_id(pid, tid), start_ns) AS tid,
        arg_min_null(original_id, start_ns) AS original_id
    FROM raw.graph_node
    WHERE node_id IS NOT NULL AND is_host_time(start_ns, start_ns)
    GROUP BY pid, node_id
),
copy_of AS (
    SELECT DISTINCT pid, graph_node_id AS node_id, graph_node_id AS at_id
    FROM raw.device_work
    WHERE graph_node_id <> 0
    UNION
    SELECT copy_of.pid, copy_of.node_id, event.original_id
    FROM copy_of
    JOIN event ON event.pid = copy_of.pid AND event.node_id = copy_of.at_id
    WHERE event.original_id IS NOT NULL
),
origin AS (
    SELECT copy_of.pid, copy_of.node_id, event.tid, event.start_ns
    FROM copy_of
    JOIN event ON event.pid = copy_of.pid AND event.node_id = copy_of.at_id
    WHERE event.original_id IS NULL AND copy_of.at_id <> copy_of.node_id
),
moment AS (
    SELECT 4 * row_number() OVER (ORDER BY tid, start_ns) + 2 AS span_id, tid, start_ns
    FROM (SELECT DISTINCT tid, start_ns FROM origin) AS distinct_moment
),
capture AS (
    SELECT tid, min(start_ns) AS first_ns, max(start_ns) AS last_ns
    FROM moment
    GROUP BY tid
),
span AS (
    SELECT 4 * op.op_id AS span_id, op.tid, op.start_ns, op.end_ns, op.op_id, NULL::BIGINT AS range_id
    FROM trace.op
    JOIN capture USING (tid)
    WHERE NOT op.is_step AND op.start_ns <= capture.last_ns AND op.end_ns >= capture.first_ns
    UNION ALL
    SELECT 4 * range.range_id + 1, range.tid, range.start_ns, range.end_ns, NULL, range.range_id
    FROM trace.range
    JOIN capture USING (tid)
    WHERE (range.role = 'module' OR range.is_module_candidate)
      AND range.start_ns <= capture.last_ns
      AND range.end_ns >= capture.first_ns
    UNION ALL
    SELECT span_id, tid, start_ns, start_ns, NULL, NULL
    FROM moment
),
nested AS (
    SELECT span_id, parent_id
    FROM parents(span)
),
around AS (
    SELECT span_id AS moment_id, parent_id AS span_id, 1 AS distance
    FROM nested
    WHERE span_id IN (SELECT span_id FROM moment)
    UNION ALL
    SELECT around.moment_id, nested.parent_id, around.distance + 1
    FROM around
    JOIN nested USING (span_id)
),
op_of_moment AS (
    SELECT around.moment_id, arg_min(span.span_id, around.distance) AS span_id
    FROM around
    JOIN span USING (span_id)
    WHERE span.op_id IS NOT NULL
    GROUP BY around.moment_id
),
range_of_moment AS (
    SELECT around.moment_id, around.span_id
    FROM around
    JOIN span USING (span_id)
    WHERE span.range_id IS NOT NULL
),
place AS (
    SELECT moment.span_id AS moment_id, coalesce(op_of_moment.span_id, moment.span_id) AS span_id, false AS is_range
    FROM moment
    LEFT JOIN op_of_moment ON op_of_moment.moment_id = moment.span_id
    WHERE op_of_moment.span_id IS NOT NULL OR moment.span_id IN (SELECT moment_id FROM range_of_moment)
    UNION ALL
    SELECT moment_id, span_id, true
    FROM range_of_moment
),
placed_span AS (
    SELECT span.*
    FROM span
    WHERE span_id IN (SELECT span_id FROM place)
),
point AS (
    SELECT span_id, tid, start_ns AS at_ns, 1 AS turn, -end_ns AS tie
    FROM placed_span
    UNION ALL
    SELECT span_id, tid, end_ns, 0, -start_ns
    FROM placed_span
    WHERE range_id IS NOT NULL
),
numbered_point AS (
    SELECT span_id, 2 * row_number() OVER (ORDER BY tid, at_ns, turn, tie, span_id) AS number
    FROM point
),
numbered_span AS (
    SELECT span_id, min(number) AS first_number, max(number) AS last_number
    FROM numbered_point
    GROUP BY span_id
),
begin AS (
    SELECT DISTINCT thread_id(pid, tid) AS tid, start_ns
    FROM raw.runtime_call
    WHERE name IN (SELECT text_id FROM raw.string WHERE contains(text, 'BeginCapture'))
),
moment_of_capture AS (
    SELECT moment.*, begin.start_ns AS begin_ns
    FROM moment
    ASOF LEFT JOIN begin ON begin.tid = moment.tid AND begin.start_ns <= moment.start_ns
)
SELECT
    origin.pid,
    origin.node_id,
    place.is_range,
    span.op_id,
    span.range_id,
    if(place.is_range, coalesce(span.start_ns < moment.begin_ns, false), NULL) AS is_around,
    numbered_span.first_number,
    if(place.is_range, numbered_span.last_number, numbered_span.first_number + 1) AS last_number
FROM origin
JOIN moment_of_capture AS moment USING (tid, start_ns)
JOIN place ON place.moment_id = moment.span_id
JOIN span ON span.span_id = place.span_id
JOIN numbered_span ON numbered_span.span_id = place.span_id
