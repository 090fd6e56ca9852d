-- One row is a layer and name of host calls into the software of the device, such as CANN or CUDA, with their number and times
-- over all ranks, the largest own time first; with --filter, only names that it chooses. Calls that several ranks share, such
-- as the devices of one database, count once; idle_ns is then that of all these devices. What is NULL on one of the ranks with
-- such calls is NULL here.
--
-- level            VARCHAR  acl, model, node, communication or runtime, as in trace.host_api
-- name             VARCHAR  name, such as aclrtSynchronizeStream; NULL when the profile lost its text
-- role             VARCHAR  launch, synchronise, copy, allocate or compile, as in trace.host_api
-- @columns calls to max_ns as in api.statistic
WITH duration AS (FROM across.api_duration)
FROM call_statistic_of(duration, {'level': level, 'name': name, 'role': role})
WHERE is_chosen(name)
ORDER BY coalesce(self_ns, total_ns) DESC, level, name, role
