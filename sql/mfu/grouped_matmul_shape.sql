-- One row is a description of a grouped matmul.
--
-- @columns shape_id, input_shapes_id, output_shapes_id as in mfu.shape
SELECT shape_id, input_shapes_id, output_shapes_id
FROM mfu.shape
WHERE family = 'grouped matmul'
