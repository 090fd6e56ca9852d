-- One row is a type and a shape of compute kernels on a rank, as in kernels.beside_communication, what costs most first.
--
-- @columns type to name as in kernels.beside_communication
-- rank_id  INTEGER  the rank; NULL when not known
-- profile  VARCHAR  folder of the rank
SELECT * EXCLUDE (profile, rank_id), rank_id, profile
FROM kernels.beside_communication
ORDER BY lost_ns DESC, profile, name, type, input_shapes
