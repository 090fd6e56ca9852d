-- One row is a module path with the time of its kernels, computing and communication apart: of the kernels that ops directly in
-- it launched, and of those of all modules inside it too.
--
-- parent_module         VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                VARCHAR  class name of the module, with [Backward] before it in the backward
-- own_computing_ns      BIGINT   time of the compute kernels launched directly in it, ns
-- computing_ns          BIGINT   the same, with all modules inside it, ns
-- own_communication_ns  BIGINT   time of the communication operators launched directly in it, ns
-- communication_ns      BIGINT   the same, with all modules inside it, ns
WITH own AS (
    SELECT
        path_id,
        coalesce(sum(duration_ns) FILTER (kind = 'compute'), 0) AS computing_ns,
        coalesce(sum(duration_ns) FILTER (kind = 'communication'), 0) AS communication_ns
    FROM module.cost
    GROUP BY path_id
),
inclusive AS (
    SELECT
        path[:prefix.depth] AS path,
        is_backward,
        sum(computing_ns) AS computing_ns,
        sum(communication_ns) AS communication_ns
    FROM own
    JOIN module.path USING (path_id)
    CROSS JOIN unnest(range(1, len(path) + 1)) AS prefix (depth)
    GROUP BY ALL
)
SELECT
    path.parent_module,
    path.module,
    coalesce(own.computing_ns, 0)::BIGINT AS own_computing_ns,
    inclusive.computing_ns::BIGINT AS computing_ns,
    coalesce(own.communication_ns, 0)::BIGINT AS own_communication_ns,
    inclusive.communication_ns::BIGINT AS communication_ns
FROM inclusive
JOIN module.path USING (path, is_backward)
LEFT JOIN own USING (path_id)
ORDER BY path.path_id
