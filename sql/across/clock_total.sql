-- One row is all devices of all ranks: what clocks below the rated one cost.
--
-- slow_count         BIGINT  devices that computed below the rated clock
-- lost_ns            BIGINT  what that cost at most, ns; NULL when there are no devices
-- computing_lost_ns  BIGINT  the part of it in kernels that hardware counters show to be bound by computing, ns; NULL when no
--                            device has counters
-- computing_ns       BIGINT  time in which devices computed, ns; NULL when there are no devices
-- unrated_count      BIGINT  devices whose rated clock is not recorded, so that the highest clock seen is taken
SELECT
    count(*) FILTER (computing_below_ns > 0) AS slow_count,
    sum(lost_ns)::BIGINT AS lost_ns,
    sum(computing_lost_ns)::BIGINT AS computing_lost_ns,
    sum(computing_ns)::BIGINT AS computing_ns,
    count(*) FILTER (origin = 'the highest clock seen') AS unrated_count
FROM clock.device
