-- One row is one of the longest kernels over all ranks, the longest first: of each rank the 100 longest.
--
-- @columns name to input_shapes as in kernels.longest
-- rank_id  INTEGER  the rank; NULL when not known
-- profile  VARCHAR  folder of the rank
SELECT * EXCLUDE (profile, rank_id), rank_id, profile
FROM kernels.longest
ORDER BY duration_ns DESC, profile, start_ns, name
