-- One row is a module path and one of the paths around it, itself included.
--
-- path_id       BIGINT  a path of module.path
-- enclosing_id  BIGINT  a path of module.path with which it begins, of the same direction (forward or backward)
WITH prefix AS (
    SELECT path_id, path[:length] AS path, is_backward
    FROM module.path
    CROSS JOIN unnest(range(1, len(path) + 1)) AS prefix (length)
)
SELECT prefix.path_id, path.path_id AS enclosing_id
FROM prefix
JOIN module.path USING (path, is_backward)
