-- One row is a module path with its cost over all ranks, the longest own kernel time first. The backward of a path is a row of
-- its own, [Backward] before the name.
--
-- parent_module           VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                  VARCHAR  class name of the module, with [Backward] before it in the backward
-- calls                   BIGINT   calls; in the backward, forward calls whose backward ran
-- own_kernel_duration_ns  BIGINT   kernel time launched by ops directly in the module, ns
-- share                   DOUBLE   part of all kernel time of all ranks; NULL when that is 0
SELECT
    parent_module,
    module,
    sum(calls)::BIGINT AS calls,
    sum(own_kernel_duration_ns)::BIGINT AS own_kernel_duration_ns,
    sum(own_kernel_duration_ns) / nullif((SELECT sum(kernel_duration_ns) FROM module.coverage), 0) AS share
FROM module.tree
GROUP BY parent_module, module
ORDER BY own_kernel_duration_ns DESC, parent_module, module
