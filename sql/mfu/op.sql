-- One row is an op, a kernel type and its input shapes: how well those kernels used the cube cores. The longest come first.
-- Kernels that multiply no matrices have no row.
--
-- @sum known_flops, flops, duration_ns, kernel_count
--
-- op_name_id             TEXT_ID  the op that launched them; NULL where linked to no op
-- type_id                TEXT_ID  operator type of the kernels; NULL when it is not known
-- input_shapes_id        TEXT_ID  input shapes of the kernels; NULL when not recorded
-- @columns mfu to elapsed_ns as in mfu.by_level
-- duration_ns            BIGINT   time of the kernels, ns
-- @columns cube_duration_ns to reasons as in mfu.by_level
SELECT by_level.* EXCLUDE (level, path_id)
FROM mfu.by_level
LEFT JOIN trace.string AS op_name ON op_name.text_id = by_level.op_name_id
LEFT JOIN trace.string AS type ON type.text_id = by_level.type_id
LEFT JOIN trace.string AS input_shapes ON input_shapes.text_id = by_level.input_shapes_id
WHERE by_level.level = 'op'
ORDER BY duration_ns DESC, op_name.text, type.text, input_shapes.text
