-- One row is a backward op without a number and the forward op with which the profile itself paired it.
--
-- op_id          BIGINT  the backward op
-- forward_op_id  BIGINT  the forward op
--
-- Only when module.unnumbered_backward_op has rows. Pairs cover only the last ops of each number, and take as long to read
-- as all links together.
SELECT pair.backward_op_id AS op_id, pair.forward_op_id
FROM trace.forward_backward AS pair
SEMI JOIN module.unnumbered_backward_op ON unnumbered_backward_op.op_id = pair.backward_op_id
