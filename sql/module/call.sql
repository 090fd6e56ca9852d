-- One row is an interval that belongs to a module: a forward call, or backward work of a forward call.
--
-- @keep
--
-- interval_id      BIGINT    an interval of module.interval
-- path_key         UHUGEINT  hash of the path, that is, of the enclosing modules and the module itself; module.path has the
--                            names
-- number           BIGINT    when paths are by instance, the number of the module among equal names in one call of the parent;
--                            else NULL
-- is_backward      BOOLEAN   true for backward work and for all that runs inside it
-- range_id         BIGINT    interval of the forward call that it is, or whose gradient it computes
-- parent_range_id  BIGINT    interval of the forward call around that one; NULL for an outermost module
-- instance_id      BIGINT    the unit that the statistic counts as one call: a forward call, or consecutive backward work of
--                            one forward call that no work of another call interrupts
--
-- With a depth chosen, deeper calls belong to the call at that depth.
--
-- Backward work has the path of the call in which its forward op lies. The forward op ended before the backward work began, so
-- the recursion always ends. A module extends the path of the call from which it is reached; backward work, and modules beyond
-- the chosen depth, keep that path. The key is a hash of 128 bits, which two paths share by chance once in 10^38. Lists of
-- names in every interval would take 0.2 GB more for a million kernels of training.
--
-- Calls in a call that the profile does not hold, since it is cut there, have no path and no row, as in
-- module.unplaced_interval.
--
-- Modules in a replayed graph are inside the module around the launch of the replay, and numbered in each replay by themselves.
WITH RECURSIVE replay AS (
    SELECT DISTINCT replayed_range.tid, op_interval.interval_id AS parent_id
    FROM trace.replayed_range
    JOIN module.replay USING (launch_id)
    JOIN module.op_interval USING (op_id)
),
without_call AS (
    SELECT interval.interval_id, interval.kind
    FROM module.interval
    LEFT JOIN module.op_interval ON op_interval.op_id = interval.forward_op_id
    WHERE interval.kind = 'gradient' OR (interval.kind = 'backward' AND op_interval.interval_id IS NULL)
    UNION
    SELECT interval.interval_id, interval.kind
    FROM without_call
    JOIN module.op_interval USING (interval_id)
    JOIN module.interval ON interval.forward_op_id = op_interval.op_id
),
child AS (
    SELECT
        interval.interval_id,
        interval.name_id,
        interval.start_ns,
        interval.begins_backward,
        interval.tid < 0 AS is_replayed,
        coalesce(parent.parent_id, replay.parent_id) AS parent_id,
        row_number() OVER (
            PARTITION BY
                coalesce(parent.parent_id, replay.parent_id),
                if(interval.tid < 0, interval.tid, NULL),
                interval.begins_backward,
                interval.name_id
            ORDER BY interval.interval_id
        ) - 1 AS number
    FROM module.interval
    JOIN module.interval_parent AS parent USING (interval_id)
    LEFT JOIN replay USING (tid)
    WHERE interval.kind = 'module'
),
-- Calls that run again inside backward work (recomputation) continue the numbers of the calls before the recomputed forward op.
done_again AS (
    SELECT again.interval_id, count(before.interval_id) AS calls_before
    FROM child AS again
    JOIN module.interval AS task ON task.interval_id = again.parent_id AND task.kind = 'backward'
    JOIN module.op_interval ON op_interval.op_id = task.forward_op_id
    JOIN trace.op AS forward ON forward.op_id = task.forward_op_id
    LEFT JOIN child AS before
        ON before.parent_id = op_interval.interval_id AND before.name_id = again.name_id AND before.start_ns < forward.start_ns
    WHERE getvariable('instances')
    GROUP BY again.interval_id
),
edge AS (
    SELECT
        child.interval_id,
        child.name_id,
        CASE
            WHEN NOT getvariable('instances') THEN NULL
            WHEN (child.parent_id IS NULL AND NOT child.is_replayed) OR without_call.interval_id IS NOT NULL THEN 0
            ELSE child.number + coalesce(done_again.calls_before, 0)
        END AS number,
        true AS is_module,
        if(without_call.interval_id IS NULL, child.parent_id, NULL) AS from_id,
        child.begins_backward OR coalesce(without_call.kind = 'backward', false) AS begins_in_backward
    FROM child
    LEFT JOIN without_call ON without_call.interval_id = child.parent_id
    LEFT JOIN done_again ON done_again.interval_id = child.interval_id
    UNION ALL
    SELECT interval.interval_id, NULL, NULL, false, op_interval.interval_id, false
    FROM module.interval
    JOIN module.op_interval ON op_interval.op_id = interval.forward_op_id
    WHERE interval.kind = 'backward'
),
walk AS (
    SELECT
        interval_id,
        path_key(1, name_id, number) AS path_key,
        1 AS depth,
        number,
        begins_in_backward AS is_backward,
        interval_id AS range_id,
        NULL::BIGINT AS parent_range_id,
        interval_id AS work_id
    FROM edge
    WHERE from_id IS NULL AND is_module AND interval_id NOT IN (SELECT interval_id FROM module.unplaced_interval)
    UNION ALL
    SELECT
        interval_id,
        if(goes_deeper, path_key(from_key, name_id, number), from_key),
        if(goes_deeper, from_depth + 1, from_depth),
        if(goes_deeper, number, from_number),
        from_backward OR begins_in_backward OR NOT is_module,
        if(goes_deeper, interval_id, from_range_id),
        if(goes_deeper, from_range_id, from_parent_range_id),
        if(is_module AND NOT goes_deeper, from_work_id, interval_id)
    FROM (
        SELECT
            edge.interval_id,
            edge.name_id,
            edge.number,
            edge.is_module,
            edge.begins_in_backward,
            edge.is_module AND coalesce(walk.depth < getvariable('depth'), true) AS goes_deeper,
            walk.path_key AS from_key,
            walk.depth AS from_depth,
            walk.number AS from_number,
            walk.is_backward AS from_backward,
            walk.range_id AS from_range_id,
            walk.parent_range_id AS from_parent_range_id,
            walk.work_id AS from_work_id
        FROM walk
        JOIN edge ON edge.from_id = walk.interval_id
    )
),
call_interval AS (
    SELECT walk.*, interval.tid, interval.kind
    FROM walk
    JOIN module.interval USING (interval_id)
),
run AS (
    SELECT interval_id, range_id IS DISTINCT FROM lag(range_id) OVER (PARTITION BY tid ORDER BY interval_id) AS begins
    FROM call_interval
    WHERE kind = 'backward'
),
run_start AS (
    SELECT
        interval_id,
        max(CASE WHEN begins THEN interval_id END) OVER (ORDER BY interval_id ROWS UNBOUNDED PRECEDING) AS start_id
    FROM run
)
SELECT
    call_interval.interval_id,
    call_interval.path_key,
    call_interval.number,
    call_interval.is_backward,
    call_interval.range_id,
    call_interval.parent_range_id,
    coalesce(run_start.start_id, call_interval.range_id) AS instance_id
FROM call_interval
LEFT JOIN run_start ON run_start.interval_id = call_interval.work_id
