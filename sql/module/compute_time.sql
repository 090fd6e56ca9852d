-- One row is a module path with the time of the compute kernels launched by ops directly in it.
--
-- parent_module  VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module         VARCHAR  class name of the module, with [Backward] before it in the backward
-- computing_ns   BIGINT   sum of the durations of its compute kernels, ns
SELECT path.parent_module, path.module, sum(kernel.duration_ns)::BIGINT AS computing_ns
FROM module.kernel
JOIN module.path USING (path_id)
WHERE kernel.kind = 'compute'
GROUP BY path.parent_module, path.module
