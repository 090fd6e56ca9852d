-- One row is a time span in which a device had one clock.
--
-- device_id      BIGINT   device; NULL when not recorded
-- start_ns       BIGINT   start, Unix ns; the span ends where the next one of the device starts
-- clock_mhz      BIGINT   clock of the cube cores, MHz
-- cycles_before  HUGEINT  cycles of one core from the first span to this one, in thousandths of a cycle
SELECT
    device_id,
    start_ns,
    clock_mhz,
    coalesce(
        sum(clock_mhz * (next_start_ns - start_ns)) OVER (
            PARTITION BY device_id ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        0
    )::HUGEINT AS cycles_before
FROM (
    SELECT *, lead(start_ns) OVER (PARTITION BY device_id ORDER BY start_ns) AS next_start_ns
    FROM trace.clock
)
