-- One row is a type of compute kernels, the clock while they ran, and the time that a clock below the rated one may have cost.
--
-- type               VARCHAR  operator type; NULL when it is not known
-- kernel_count       BIGINT   kernels whose clock is known
-- duration_ns        BIGINT   their time, ns
-- mean_clock_mhz     DOUBLE   mean clock over that time, MHz; NULL when it is 0
-- below_count        BIGINT   kernels that ran below the rated clock for some of their time
-- lost_ns            BIGINT   the most that this cost, ns: as if computing alone bounded them
-- computing_lost_ns  BIGINT   the part of lost_ns in kernels that hardware counters show to be bound by computing, ns; NULL
--                             where no kernel of the rank has counters
-- bound_lost_ns      BIGINT   the part of lost_ns in kernels that they show to be bound by something else, so that it is less,
--                             ns; NULL where no kernel of the rank has counters
WITH summed_type AS (
    SELECT
        kernel.type_id,
        count(*) AS kernel_count,
        sum(kernel.duration_ns)::BIGINT AS duration_ns,
        sum((kernel.clock_mhz * kernel.duration_ns)::HUGEINT) / nullif(sum(kernel.duration_ns), 0) AS mean_clock_mhz,
        count(*) FILTER (kernel.lost_ns > 0) AS below_count,
        sum(kernel.lost_ns)::BIGINT AS lost_ns,
        coalesce(sum(kernel.lost_ns) FILTER (kernel.bound = 'compute'), 0)::BIGINT AS computing_lost_ns,
        coalesce(sum(kernel.lost_ns) FILTER (kernel.bound <> 'compute'), 0)::BIGINT AS bound_lost_ns,
        count(kernel.bound) AS bound_count
    FROM clock.kernel
    GROUP BY kernel.type_id
)
SELECT
    type.text AS type,
    summed_type.kernel_count,
    summed_type.duration_ns,
    summed_type.mean_clock_mhz,
    summed_type.below_count,
    summed_type.lost_ns,
    if(sum(summed_type.bound_count) OVER () > 0, summed_type.computing_lost_ns, NULL) AS computing_lost_ns,
    if(sum(summed_type.bound_count) OVER () > 0, summed_type.bound_lost_ns, NULL) AS bound_lost_ns
FROM summed_type
LEFT JOIN trace.string AS type ON type.text_id = summed_type.type_id
ORDER BY summed_type.lost_ns DESC, summed_type.duration_ns DESC, type
