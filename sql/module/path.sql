-- One row is a module path: all calls of module classes that stand under the same chain of classes, forward or backward.
--
-- path          STRUCT(name_id BIGINT, number BIGINT)[]  module names, outermost first, as in module.call
-- is_backward   BOOLEAN  true for the backward of the path
-- path_id       BIGINT   the id; a path comes before those inside it, and siblings are in the order of their first calls
-- depth         BIGINT   number of names; 1 for an outermost module
-- parent_module VARCHAR   the names but the last, joined by '/'; '' for an outermost module
-- module        VARCHAR   the last name; with [Backward] before it for the backward
WITH first_call AS (
    SELECT path, is_backward, min(start_ns) AS start_ns
    FROM module.call
    JOIN module.interval USING (interval_id)
    GROUP BY path, is_backward
),
-- The backward of a module is a path even when only modules inside it have backward runs.
enclosing AS (
    SELECT path[:depth] AS path, is_backward, min(start_ns) AS start_ns
    FROM first_call, unnest(range(1, len(path) + 1)) AS prefix (depth)
    GROUP BY ALL
),
placed AS (
    SELECT
        inside.path,
        inside.is_backward,
        list(name ORDER BY len(around.path)) AS names,
        list((around.start_ns, name) ORDER BY len(around.path)) AS place
    FROM enclosing AS inside
    JOIN enclosing AS around
        ON around.path = inside.path[:len(around.path)] AND around.is_backward = inside.is_backward
    LEFT JOIN trace.string ON string.text_id = around.path[-1].name_id
    CROSS JOIN LATERAL (
        SELECT coalesce(string.text, '(name lost)') || coalesce('[' || around.path[-1].number || ']', '') AS name
    ) AS named
    GROUP BY inside.path, inside.is_backward
)
SELECT
    path,
    is_backward,
    row_number() OVER (ORDER BY place, is_backward, path) AS path_id,
    len(path) AS depth,
    array_to_string(names[:-2], '/') AS parent_module,
    CASE WHEN is_backward THEN '[Backward]' ELSE '' END || names[-1] AS module
FROM placed
ORDER BY path_id
