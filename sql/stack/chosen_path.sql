-- One row is a module path that --module chooses: the module, in forward and backward, and the modules inside it.
--
-- path_id  BIGINT  a path of module.path
--
-- Without the option it looks for names that are empty: a comparison with NULL would make the columns of the paths needless.
WITH spelled_path AS (
    SELECT path_id, '/' || module_path || '/' AS path
    FROM module.path
),
wanted AS (SELECT '/' || coalesce(getvariable('module'), '/') || '/' AS part)
SELECT path_id
FROM spelled_path
CROSS JOIN wanted
WHERE contains(path, part) OR contains(replace(path, '[Backward]', ''), part)
