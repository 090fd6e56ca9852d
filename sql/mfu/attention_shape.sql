-- One row is a description of an attention kernel.
--
-- @columns shape_id, family as in mfu.shape
SELECT shape_id, family
FROM mfu.shape
WHERE family IN ('attention', 'attention gradient', 'inference attention', 'paged attention')
