-- One row is the rank, if no module of it has siblings that do the same work (module.sibling).
--
-- sibling_count  BIGINT  0
SELECT 0::BIGINT AS sibling_count
WHERE NOT EXISTS (FROM module.sibling)
