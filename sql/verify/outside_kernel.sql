-- One row is an op, a reason and a name of kernels outside modules on a rank, with their number.
--
-- rank_id       INTEGER  rank; -1 when the files name none
-- op_name       VARCHAR  the op that launched them; NULL when linked to none
-- reason        VARCHAR  why they are in no module, as in module.kernel
-- name          VARCHAR  name of the kernels
-- kernel_count  BIGINT   kernels
SELECT coalesce(rank_id, -1) AS rank_id, op_name, reason, name, count(*) AS kernel_count
FROM module.kernel
WHERE location = 'outside modules'
GROUP BY ALL
