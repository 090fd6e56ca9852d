-- One row is the time of all communication operators of the rank.
--
-- @columns op_count to bandwidth_gb_s as in communication.by_level
SELECT * EXCLUDE (level, group_name, kind, type, location, parent_module, module)
FROM communication.by_level
WHERE level = 'rank'
