-- One row is what multiplies matrices in the rank: an operator type with a formula, or a description of ops.
--
-- type_id   BIGINT  a type of mfu.family; NULL for a description
-- shape_id  BIGINT  a description of mfu.op_shape; NULL for a type
SELECT type_id, NULL::BIGINT AS shape_id
FROM mfu.family
UNION ALL
SELECT NULL, shape_id
FROM mfu.op_shape
