-- One row is the rank: how far the clock of its device is off from that of its host, as far as the recorded times cannot both
-- be true. All that compares times of host and device moves those of the device by it; times of kernels stay as recorded.
--
-- offset_ns     BIGINT  clock of the device minus clock of the host, ns: a moment of the device less this is one of the host; 0
--                       where they agree to some tenths of a millisecond, as those of profilers do
-- linked_count  BIGINT  kernels whose launch is known, or else the op that launched them
-- early_count   BIGINT  of these, kernels that begin 0.1 ms or more before it by the recorded times
-- waited_count  BIGINT  calls that waited for the device; 0 where each kernel may have begun within 0.5 ms of its launch
-- late_count    BIGINT  of these, calls that return 0.5 ms or more before the kernels launched before them end
--
-- An early clock shows by kernels that begin before their launch. Ten of them and one in a thousand make one, or in a small
-- profile three and one in five: fewer are damaged links. A late clock shows where no kernel begins within 0.5 ms of its
-- launch, though one in ten needs no more than 0.2 ms longer than the quickest, so the device was idle, and where most calls
-- that wait return too early. In both cases the quickest kernel then begins right at its launch. Clocks that drift apart are
-- moved as one.
SELECT
    CASE
        WHEN latency.early_ns IS NOT NULL THEN -latency.early_ns
        WHEN delayed.is_usual AND waited.late_count > 0 AND waited.late_count * 2 >= waited.waited_count
            THEN delayed.least_latency_ns
        ELSE 0
    END AS offset_ns,
    latency.linked_count,
    latency.early_count,
    coalesce(waited.waited_count, 0) AS waited_count,
    coalesce(waited.late_count, 0) AS late_count
FROM clock.latency
-- All pairs: each of these tables has one row at most.
LEFT JOIN clock.delayed ON true
LEFT JOIN clock.waited ON true
