-- One row is a type of compute kernels over all ranks, the clock while they ran, and the time that a clock below the rated one
-- may have cost, the costliest first.
--
-- @columns type to lost_ns as in clock.kernel_type
-- computing_lost_ns  BIGINT   the part of lost_ns in kernels that hardware counters show to be bound by computing, ns; NULL
--                             where no rank has counters
SELECT
    type,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(duration_ns)::BIGINT AS duration_ns,
    sum((mean_clock_mhz * duration_ns)::HUGEINT) / nullif(sum(duration_ns), 0) AS mean_clock_mhz,
    sum(below_count)::BIGINT AS below_count,
    sum(lost_ns)::BIGINT AS lost_ns,
    sum(computing_lost_ns)::BIGINT AS computing_lost_ns
FROM clock.kernel_type
GROUP BY type
ORDER BY lost_ns DESC, duration_ns DESC, type
