-- One row is a rank that rules of advice can judge: it has steps or a recording of the device, or memory of a snapshot.
--
-- profile  VARCHAR  folder of the rank
-- rank_id  INTEGER  the rank; NULL when not known
SELECT profile, rank_id
FROM across.rank_step
UNION
SELECT profile, rank_id
FROM allocation.component
WHERE role = 'framework'
