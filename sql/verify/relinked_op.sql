-- One row is an op in a module on a rank, some kernels of which are linked otherwise than the profile records it.
--
-- rank_id        INTEGER  rank; -1 when the files name none
-- parent_module  VARCHAR  names of the enclosing modules joined by '/'
-- module         VARCHAR  class name of the module
-- op_name        VARCHAR  the op that launched them
SELECT DISTINCT coalesce(rank_id, -1) AS rank_id, parent_module, module, op_name
FROM module.kernel
WHERE location = 'inside modules' AND link <> 'recorded'
