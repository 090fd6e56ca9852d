-- One row is a layer and name of host calls that compile ops or kernels, or look up what is compiled.
--
-- @guard api.compile_call
--
-- @columns level to name_id, calls, total_ns to idle_ns as in api.statistic
SELECT level, name_id, calls, total_ns, idle_ns
FROM api.statistic
WHERE role = 'compile'
