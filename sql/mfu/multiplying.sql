-- One row is what may multiply matrices in the rank: an operator type with a formula, a description of ops, or one of kernels
-- for which there is no formula.
--
-- type_id   BIGINT  a type of mfu.family; NULL for a description
-- shape_id  BIGINT  a description of mfu.op_shape or mfu.unsure_shape; NULL for a type
SELECT type_id, NULL::BIGINT AS shape_id
FROM mfu.family
UNION ALL
SELECT NULL, shape_id
FROM mfu.op_shape
UNION ALL
SELECT NULL, shape_id
FROM mfu.unsure_shape
ANTI JOIN mfu.vector_shape USING (shape_id)
