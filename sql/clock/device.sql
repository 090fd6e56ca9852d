-- One row is a device of the rank: its clock over all time and while it computed, beside the rated clock.
--
-- device_id          BIGINT   device; NULL when not recorded
-- rated_mhz          BIGINT   rated clock, as in clock.rated, MHz
-- origin             VARCHAR  where that comes from, as in clock.rated
-- clocks             VARCHAR  the clocks that it had from the first kernel to the end of the last one, MHz, joined by ', ';
--                             NULL where no sample covers that time
-- duration_ns        BIGINT   time from the first kernel to the end of the last one with a known clock, ns
-- computing_ns       BIGINT   part of it in which a compute kernel ran, ns
-- below_ns           BIGINT   part of duration_ns below the rated clock, ns
-- computing_below_ns BIGINT   part of computing_ns below the rated clock, ns: the rest of below_ns cost nothing
-- mean_clock_mhz     DOUBLE   mean clock while compute kernels ran, MHz; NULL when none did
-- lost_ns            BIGINT   the most that the lower clock cost, ns: the sum over the kernels of clock.kernel
-- computing_lost_ns  BIGINT   the part of it in kernels that hardware counters show to be bound by computing, ns; NULL where no
--                             kernel has counters
WITH spent AS (
    SELECT
        device_id,
        min(rated_mhz) AS rated_mhz,
        string_agg(DISTINCT clock_mhz, ', ' ORDER BY clock_mhz) AS clocks,
        coalesce(sum(duration_ns) FILTER (clock_mhz IS NOT NULL), 0)::BIGINT AS duration_ns,
        coalesce(sum(computing_ns) FILTER (clock_mhz IS NOT NULL), 0)::BIGINT AS computing_ns,
        coalesce(sum(duration_ns) FILTER (clock_mhz < rated_mhz), 0)::BIGINT AS below_ns,
        coalesce(sum(computing_ns) FILTER (clock_mhz < rated_mhz), 0)::BIGINT AS computing_below_ns,
        sum(clock_mhz::HUGEINT * computing_ns) / nullif(sum(computing_ns) FILTER (clock_mhz IS NOT NULL), 0) AS mean_clock_mhz
    FROM clock.span
    GROUP BY device_id
),
lost AS (
    SELECT
        device_id,
        sum(lost_ns)::BIGINT AS lost_ns,
        if(count(bound) > 0, coalesce(sum(lost_ns) FILTER (bound = 'compute'), 0), NULL)::BIGINT AS computing_lost_ns
    FROM clock.kernel
    GROUP BY device_id
)
SELECT
    spent.device_id,
    spent.rated_mhz,
    rated.origin,
    spent.clocks,
    spent.duration_ns,
    spent.computing_ns,
    spent.below_ns,
    spent.computing_below_ns,
    spent.mean_clock_mhz,
    coalesce(lost.lost_ns, 0) AS lost_ns,
    lost.computing_lost_ns
FROM spent
JOIN clock.rated ON rated.device_id IS NOT DISTINCT FROM spent.device_id
LEFT JOIN lost ON lost.device_id IS NOT DISTINCT FROM spent.device_id
ORDER BY spent.device_id
