-- One row is a module and the communication operators that belong to it, the longest first.
--
-- @sum op_count, elapse_ns, transit_ns, wait_ns, synchronization_ns, idle_ns, unknown_ns, size_bytes, transfer_ns
--
-- location               VARCHAR  'inside modules', 'outside modules', or 'linked to no op'
-- parent_module          VARCHAR  names of the enclosing modules joined by '/'; NULL outside modules
-- module                 VARCHAR  class name of the module, [Backward] before it in the backward; NULL outside modules
-- @columns op_count to bandwidth_gb_s as in communication.by_level
SELECT * EXCLUDE (level, group_name, kind, type)
FROM communication.by_level
WHERE level = 'module'
ORDER BY elapse_ns DESC, location, parent_module, module
