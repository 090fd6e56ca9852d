-- One row is a role and type of kernels that work for experts (MoE), over all ranks, the longest first.
--
-- role          VARCHAR  what they do, as in experts.kernel
-- kernel_type   VARCHAR  operator type, or where it is not known the name without the numbers at its end
-- rank_count    BIGINT   ranks that have them
-- kernel_count  BIGINT   kernels
-- duration_ns   BIGINT   their time, ns
-- min_ns        BIGINT   shortest time, ns
-- max_ns        BIGINT   longest time, ns
-- expert_count  BIGINT   experts of a rank, as in experts.kernel; NULL when not known, and where ranks differ
SELECT
    role,
    kernel_type,
    count(*) AS rank_count,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(duration_ns)::BIGINT AS duration_ns,
    min(min_ns) AS min_ns,
    max(max_ns) AS max_ns,
    if(count(expert_count) = count(*) AND count(DISTINCT expert_count) = 1, min(expert_count), NULL) AS expert_count
FROM experts.kernel
GROUP BY role, kernel_type
ORDER BY duration_ns DESC, role, kernel_type
