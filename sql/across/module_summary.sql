-- One row is a module path over all ranks with what is known of it: its kernel time, how well kernels used the cube cores, and
-- what bounds it. The longest own kernel time comes first.
--
-- @columns parent_module to computing_per_step_ns as in across.module_time
-- efficiency  DOUBLE   known FLOPs / what the cube cores could have done in the time of these kernels; NULL without any
-- mfu         DOUBLE   model FLOPs utilisation of all ranks together; NULL without any
-- bound       VARCHAR  what bounds most of the time: compute, memory, on chip, scalar or wait; NULL when not known
SELECT time.*, mfu.efficiency, mfu.mfu, pmu.bound
FROM across.module_time AS time
LEFT JOIN (FROM across.mfu WHERE level = 'module') AS mfu USING (parent_module, module)
LEFT JOIN (FROM across.pmu WHERE level = 'module') AS pmu USING (parent_module, module)
ORDER BY time.own_kernel_duration_ns DESC, parent_module, module
