-- One row is a module path: how well its compute kernels, and those of all modules inside it, used the cube cores. The backward
-- of a path is a row of its own.
--
-- parent_module          VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                 VARCHAR  class name of the module, with [Backward] before it in the backward
-- depth                  BIGINT   1 for an outermost module
-- @columns mfu to elapsed_ns as in mfu.by_level
-- duration_ns            BIGINT   time of all compute kernels in the module, ns
-- @columns cube_duration_ns to reasons as in mfu.by_level
SELECT path.parent_module, path.module, path.depth, by_level.* EXCLUDE (level, path_id, op_name_id, type_id, input_shapes_id)
FROM mfu.by_level
JOIN module.path USING (path_id)
WHERE by_level.level = 'module'
ORDER BY path_id
