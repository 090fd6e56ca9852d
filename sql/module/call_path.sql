-- One row is a call interval and its path of module names, outermost first.
--
-- call_id      BIGINT    an interval of module.call
-- path         BIGINT[]  names of the enclosing modules and of the module itself, ids of trace.string
-- is_backward  BOOLEAN   true for a backward run and for all that it encloses
--
-- A backward run has the path of its forward range, whatever encloses the run itself. A run starts after its forward range
-- did, so following these edges always ends.
WITH RECURSIVE edge AS (
    SELECT call.call_id, forward.call_id AS from_id, call.name_id, true AS is_run
    FROM module.call
    JOIN module.call AS forward ON forward.range_id = call.range_id AND NOT forward.is_run
    WHERE call.is_run
    UNION ALL
    SELECT call.call_id, call_parent.parent_id, call.name_id, false
    FROM module.call
    JOIN module.call_parent USING (call_id)
    WHERE NOT call.is_run
),
walk AS (
    SELECT call_id, [name_id] AS path, false AS is_backward
    FROM edge
    WHERE from_id IS NULL
    UNION ALL
    SELECT
        edge.call_id,
        CASE WHEN edge.is_run THEN walk.path ELSE list_append(walk.path, edge.name_id) END,
        walk.is_backward OR edge.is_run
    FROM walk
    JOIN edge ON edge.from_id = walk.call_id
)
SELECT call_id, path, is_backward
FROM walk
