-- One row is a reason why kernels that may multiply matrices have no efficiency, over all ranks, the reason with the most time
-- first.
--
-- reason        VARCHAR  why, as in mfu.left_out
-- kernel_count  BIGINT   kernels
-- duration_ns   BIGINT   their time, ns
-- mac_ratio     DOUBLE   part of the time of their cube cores in which the matrix unit worked, as in mfu.left_out: the mean
--                        weighted by time; NULL when not known
SELECT
    reason,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(duration_ns)::BIGINT AS duration_ns,
    mean_ratio(mac_ratio, duration_ns) AS mac_ratio
FROM mfu.left_out
GROUP BY reason
ORDER BY duration_ns DESC, reason
