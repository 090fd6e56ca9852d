-- One row is a kind, type and core of kernels and what their hardware counters say, the heaviest first. The rows cover compute
-- kernels, and other kernels that have counters.
--
-- @sum kernel_count, duration_ns, known_duration_ns
--
-- kind                    ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- type_id                 TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- core_id                 TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL when not recorded
-- @columns kernel_count to reason as in pmu.by_level
SELECT by_level.* EXCLUDE (level, op_name_id, path_id)
FROM pmu.by_level
LEFT JOIN trace.string AS type ON type.text_id = by_level.type_id
LEFT JOIN trace.string AS core ON core.text_id = by_level.core_id
WHERE by_level.level = 'kernel_type'
ORDER BY duration_ns DESC, by_level.kind, type.text, core.text
