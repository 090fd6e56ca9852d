-- One row is the rank, if none of its kernels begins within 0.5 ms of its launch by the recorded times: the clock of its device
-- may be late.
--
-- least_latency_ns  BIGINT   as in clock.latency
-- is_usual          BOOLEAN  as in clock.latency
SELECT least_latency_ns, is_usual
FROM clock.latency
WHERE least_latency_ns >= 500_000
