-- One row is a reason why kernels that may multiply matrices have no efficiency, and how busy the matrix unit was in them. With
-- a step chosen, only kernels whose op started in that step count.
--
-- reason        VARCHAR  why, as in mfu.judged
-- mac_ratio     DOUBLE   as in mfu.judged; NULL when not known
-- kernel_count  BIGINT   kernels
-- duration_ns   BIGINT   their time, ns
SELECT judged.reason, judged.mac_ratio, count(*) AS kernel_count, sum(judged.duration_ns)::BIGINT AS duration_ns
FROM mfu.judged
SEMI JOIN module.kernel USING (kernel_id)
WHERE judged.reason IS NOT NULL
GROUP BY judged.reason, judged.mac_ratio
