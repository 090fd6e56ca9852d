-- One row is a description of a matmul whose shapes something else changes: a transposition, or communication.
--
-- @columns shape_id, family as in mfu.shape
SELECT shape_id, family
FROM mfu.shape
WHERE family IN ('transposed matmul', 'gathering matmul', 'reducing matmul')
