-- One row is the kernels of the rank that may multiply matrices, and for how much of their time FLOPs and peak are known, so
-- that rules of advice can judge them. Without such kernels there is no row.
--
-- kernel_count  BIGINT   kernels
-- duration_ns   BIGINT   their time, ns
-- judged_ns     BIGINT   the part of it in kernels with known FLOPs and peak, ns
-- reason        VARCHAR  why most of the rest is not known, as in mfu.judged; NULL where all is
WITH by_reason AS (
    SELECT
        if(known_flops IS NULL, reason, NULL) AS reason,
        count(*) AS kernel_count,
        sum(duration_ns) AS duration_ns
    FROM mfu.judged
    GROUP BY ALL
)
SELECT
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(duration_ns)::BIGINT AS duration_ns,
    coalesce(sum(duration_ns) FILTER (reason IS NULL), 0)::BIGINT AS judged_ns,
    arg_max(reason, (duration_ns, reason)) FILTER (reason IS NOT NULL) AS reason
FROM by_reason
HAVING count(*) > 0
