-- One row is a rank: its model FLOPs utilisation, and how well its compute kernels used the cube cores, inside modules and
-- outside.
--
-- @columns mfu to elapsed_ns as in mfu.by_level
-- duration_ns            BIGINT   time of all compute kernels, ns
-- @columns cube_duration_ns to reasons as in mfu.by_level
SELECT * EXCLUDE (level, path_id, op_name_id, type_id, input_shapes_id)
FROM mfu.by_level
WHERE level = 'rank'
