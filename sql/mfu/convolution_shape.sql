-- One row is a description of a convolution, forward or backward.
--
-- @columns shape_id, family as in mfu.shape
SELECT shape_id, family
FROM mfu.shape
WHERE family IN ('convolution', 'input gradient', 'weight gradient')
