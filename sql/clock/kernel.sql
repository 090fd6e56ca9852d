-- One row is a compute kernel whose whole time is covered by samples of the real clock, and the time that a clock below the
-- rated one may have cost it.
--
-- @guard trace.clock
-- @unique clock by device_id, start_ns: each source groups trace.clock by both
--
-- kernel_id    BIGINT   a compute kernel of trace.kernel; those on CPUs of the device have no row
-- type_id      TEXT_ID  operator type; NULL when it is not known
-- device_id    BIGINT   device
-- duration_ns  BIGINT   end - start
-- clock_mhz    DOUBLE   mean clock while it ran, MHz; NULL for a kernel that took no time
-- lost_ns      BIGINT   by how much it would be shorter at the rated clock if computing alone bounded it, ns: duration * (1 -
--                       mean clock / rated clock); 0 at the rated clock or above
-- bound        VARCHAR  what bounds it, as in pmu.bound; NULL without counters
WITH computing AS (
    SELECT kernel_id, type_id, device_id, start_ns, end_ns, duration_ns
    FROM trace.kernel
    WHERE kind = 'compute'
      AND coalesce(engine NOT IN ('cpu', 'copy'), true)
      AND (getvariable('step_id') IS NULL OR kernel_id IN (SELECT kernel_id FROM kernels.in_step))
),
clocked AS (
    SELECT
        computing.*,
        (
            at_end.cycles_before + at_end.clock_mhz * (computing.end_ns - at_end.start_ns)
            - at_start.cycles_before - at_start.clock_mhz * (computing.start_ns - at_start.start_ns)
        )::HUGEINT AS cycles
    FROM computing
    ASOF JOIN mfu.clock AS at_start
        ON at_start.device_id = computing.device_id AND at_start.start_ns <= computing.start_ns
    ASOF JOIN mfu.clock AS at_end ON at_end.device_id = computing.device_id AND at_end.start_ns <= computing.end_ns
)
SELECT
    clocked.kernel_id,
    clocked.type_id,
    clocked.device_id,
    clocked.duration_ns,
    clocked.cycles / nullif(clocked.duration_ns, 0) AS clock_mhz,
    greatest(0, clocked.duration_ns - clocked.cycles // rated.rated_mhz)::BIGINT AS lost_ns,
    bound.bound
FROM clocked
JOIN clock.rated USING (device_id)
LEFT JOIN pmu.bound USING (kernel_id)
