-- One row is a group of ranks and a type of operators with their time, the longest first.
--
-- @sum op_count, elapse_ns, transit_ns, wait_ns, synchronization_ns, idle_ns, unknown_ns, size_bytes, transfer_ns
--
-- group_name             VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- kind                   VARCHAR  p2p (send and receive) or collective
-- type                   VARCHAR  type, such as hcom_allReduce_; NULL when not known
-- @columns op_count to bandwidth_gb_s as in communication.by_level
SELECT * EXCLUDE (level, location, parent_module, module)
FROM communication.by_level
WHERE level = 'group'
ORDER BY elapse_ns DESC, group_name, kind, type
