-- One row is a layer of a rank in which no modules are compared (module.sibling), among the layers of its kind. Other ranks
-- have none.
--
-- @guard module.no_sibling
--
-- @columns layer to slower_ns as in layer.sibling
SELECT *
FROM layer.sibling
WHERE EXISTS (FROM module.no_sibling)
ORDER BY layer, kind
