-- One row is a backward op whose number does not decide its forward op, and the forward op with which the profile itself paired
-- it.
--
-- @guard module.undecided_backward_op
--
-- op_id          BIGINT  the backward op
-- forward_op_id  BIGINT  the forward op; where the profile names several, the last one
--
-- Recorded pairs can cover only the last ops of each number, and take as long
-- to read as all links together.
SELECT pair.backward_op_id AS op_id, max(pair.forward_op_id) AS forward_op_id
FROM trace.forward_backward AS pair
SEMI JOIN module.undecided_backward_op ON undecided_backward_op.op_id = pair.backward_op_id
GROUP BY pair.backward_op_id
