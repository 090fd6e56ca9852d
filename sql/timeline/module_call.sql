-- One row is a call of a module on a stream of the device, from its first kernel there to its last one, kernels of modules
-- inside it included, in the order of time. A call with kernels on several streams has a row for each. With a step chosen, only
-- the kernels of that step count.
--
-- @columns call_id to stream_id as in timeline.call_span
-- lane                INTEGER  row of the stream in which it is drawn: calls of one lane overlap only where one is inside the
--                              other in the tree of modules; 0 is the first
-- path_id             BIGINT   its path of module.path
-- parent_module       VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module              VARCHAR  class name of the module, [Backward] before it in the backward
-- depth               BIGINT   number of names in the path; 1 for an outermost module
-- @columns step_id to own_duration_ns as in timeline.call_span
WITH RECURSIVE sibling_call AS (
    SELECT
        *,
        -- By added() the whole table takes a sixth more time.
        max(end_ns) OVER (
            PARTITION BY parent_call_id, device_id, stream_id
            ORDER BY start_ns, end_ns, call_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM timeline.call_span
),
-- Calls directly inside one call that overlap are of several host threads, or of work that the device did not do in turn. All
-- but those in the first lane are drawn outside of the call around them, like outermost modules.
crowded AS (
    SELECT DISTINCT parent_call_id
    FROM sibling_call
    WHERE start_ns < reached_ns AND parent_call_id IS NOT NULL
),
sibling AS (
    SELECT
        list(call_id ORDER BY start_ns, end_ns, call_id) AS call_ids,
        lanes(list(start_ns ORDER BY start_ns, end_ns, call_id), list(end_ns ORDER BY start_ns, end_ns, call_id)) AS lanes
    FROM timeline.call_span
    JOIN crowded USING (parent_call_id)
    GROUP BY parent_call_id
),
-- Kept, as the recursion reads it at every level.
outside AS MATERIALIZED (
    SELECT call_id
    FROM (SELECT unnest(call_ids) AS call_id, unnest(lanes) AS lane FROM sibling) AS placed
    WHERE lane > 0
),
outermost AS (
    SELECT call_id, device_id, stream_id, start_ns, end_ns
    FROM timeline.call_span
    WHERE parent_call_id IS NULL OR call_id IN (SELECT call_id FROM outside)
),
of_stream AS (
    SELECT
        list(call_id ORDER BY start_ns, end_ns, call_id) AS call_ids,
        lanes(list(start_ns ORDER BY start_ns, end_ns, call_id), list(end_ns ORDER BY start_ns, end_ns, call_id)) AS lanes
    FROM outermost
    GROUP BY device_id, stream_id
),
drawn AS (
    SELECT unnest(call_ids) AS call_id, unnest(lanes) AS lane
    FROM of_stream
    UNION ALL
    SELECT span.call_id, drawn.lane
    FROM drawn
    JOIN timeline.call_span AS span ON span.parent_call_id = drawn.call_id
    ANTI JOIN outside ON outside.call_id = span.call_id
)
SELECT
    span.call_id,
    span.parent_call_id,
    span.range_id,
    span.is_backward,
    span.device_id,
    span.stream_id,
    drawn.lane,
    path.path_id,
    path.parent_module,
    path.module,
    path.depth,
    span.step_id,
    span.start_ns,
    span.end_ns,
    span.kernel_count,
    span.kernel_duration_ns,
    span.own_kernel_count,
    span.own_duration_ns
FROM timeline.call_span AS span
JOIN drawn USING (call_id)
JOIN module.call ON call.interval_id = span.range_id
JOIN module.path ON path.path_key = call.path_key AND path.is_backward = span.is_backward
ORDER BY span.call_id
