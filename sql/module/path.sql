-- One row is a module path, forward or backward: all calls of a module class below the same chain of classes.
--
-- @keep
--
-- path_key      UHUGEINT  hash of the path, as in module.call
-- path          STRUCT(name_id BIGINT, number BIGINT)[]  names (ids of trace.string), outermost first; when paths are by
--                         instance, each with its number among equal names in one call of the parent, else with NULL
-- is_backward   BOOLEAN  true for the backward of the path
-- path_id       BIGINT   the id; a path comes before those inside it, and siblings are in the order of their first calls
-- depth         BIGINT   number of names; 1 for an outermost module
-- parent_module VARCHAR   all names but the last, joined by '/'; '' for an outermost module
-- module        VARCHAR   the last name; with [Backward] before it for the backward
-- module_path   VARCHAR   all names, joined by '/'; with [Backward] before the last one for the backward
WITH RECURSIVE forward_call AS (
    SELECT path_key, min(range_id) AS range_id
    FROM module.call
    GROUP BY path_key
),
last_segment AS (
    SELECT
        forward_call.path_key,
        {'name_id': interval.name_id, 'number': call.number} AS segment,
        around.path_key AS parent_key
    FROM forward_call
    JOIN module.call ON call.interval_id = forward_call.range_id
    JOIN module.interval ON interval.interval_id = forward_call.range_id
    LEFT JOIN module.call AS around ON around.interval_id = call.parent_range_id
),
spelled_path AS (
    SELECT path_key, [segment] AS path
    FROM last_segment
    WHERE parent_key IS NULL
    UNION ALL
    SELECT last_segment.path_key, list_append(spelled_path.path, last_segment.segment)
    FROM spelled_path
    JOIN last_segment ON last_segment.parent_key = spelled_path.path_key
),
first_call AS (
    SELECT path_key, is_backward, min(start_ns) AS start_ns
    FROM module.call
    JOIN module.interval USING (interval_id)
    GROUP BY path_key, is_backward
),
-- The backward of a module is a path even when only modules inside it have backward runs.
enclosing AS (
    SELECT path[:depth] AS path, is_backward, min(start_ns) AS start_ns
    FROM first_call
    JOIN spelled_path USING (path_key)
    CROSS JOIN unnest(range(1, len(path) + 1)) AS prefix (depth)
    GROUP BY ALL
),
-- Each path with itself and the paths around it, as values for a hash join: comparing 30,000 paths with each other takes
-- minutes.
prefix AS (
    SELECT path AS inside_path, is_backward, path[:depth] AS path, depth
    FROM enclosing
    CROSS JOIN unnest(range(1, len(path) + 1)) AS prefix (depth)
),
named_path AS (
    SELECT
        inside_path AS path,
        is_backward,
        list(name ORDER BY depth) AS names,
        list((around.start_ns, name) ORDER BY depth) AS position
    FROM prefix
    JOIN enclosing AS around USING (path, is_backward)
    LEFT JOIN trace.string ON string.text_id = path[-1].name_id
    CROSS JOIN LATERAL (
        SELECT coalesce(string.text, '(name lost)') || coalesce('[' || path[-1].number || ']', '') AS name
    ) AS named
    GROUP BY inside_path, is_backward
)
SELECT
    spelled_path.path_key,
    path,
    is_backward,
    row_number() OVER (ORDER BY position, is_backward, path) AS path_id,
    len(path) AS depth,
    array_to_string(names[:-2], '/') AS parent_module,
    CASE WHEN is_backward THEN '[Backward]' ELSE '' END || names[-1] AS module,
    path_of_module(parent_module, module) AS module_path
FROM named_path
JOIN spelled_path USING (path)
ORDER BY path_id
