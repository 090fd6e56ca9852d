-- One row is an op, and a kind, type and core of kernels that it launched, and what their hardware counters say, the heaviest
-- first. The rows cover compute kernels, and other kernels that have counters.
--
-- @sum kernel_count, duration_ns, known_duration_ns
--
-- op_name_id              TEXT_ID  the op that launched them; NULL where linked to no op
-- @columns kind to reason as in pmu.kernel_type
SELECT by_level.op_name_id, by_level.* EXCLUDE (level, op_name_id, path_id)
FROM pmu.by_level
LEFT JOIN trace.string AS op_name ON op_name.text_id = by_level.op_name_id
LEFT JOIN trace.string AS type ON type.text_id = by_level.type_id
LEFT JOIN trace.string AS core ON core.text_id = by_level.core_id
WHERE by_level.level = 'op'
ORDER BY duration_ns DESC, op_name.text, by_level.kind, type.text, core.text
