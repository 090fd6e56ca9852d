-- One row is a module path with the hardware counters of its kernels and of those of all modules inside it. The backward of a
-- path is a row of its own. The rows cover compute kernels, and other kernels that have counters.
--
-- parent_module           VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                  VARCHAR  class name of the module, with [Backward] before it in the backward
-- depth                   BIGINT   1 for an outermost module
-- @columns kernel_count to reason as in pmu.by_level
SELECT path.parent_module, path.module, path.depth, by_level.* EXCLUDE (level, kind, type_id, core_id, op_name_id, path_id)
FROM pmu.by_level
JOIN module.path USING (path_id)
WHERE by_level.level = 'module'
ORDER BY by_level.path_id
