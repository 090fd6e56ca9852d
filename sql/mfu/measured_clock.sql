-- One row is a kernel that may multiply matrices, and whose whole time is covered by samples of the real clock.
--
-- @unique clock by device_id, start_ns: each source groups trace.clock by both
--
-- kernel_id  BIGINT   a kernel of mfu.cube_kernel
-- cycles     HUGEINT  cycles of one core in its time, in thousandths of a cycle: the clock in MHz summed over its nanoseconds
WITH started AS (
    SELECT cube_kernel.kernel_id, clock.cycles_before + clock.clock_mhz * (cube_kernel.start_ns - clock.start_ns) AS cycles
    FROM mfu.cube_kernel
    ASOF JOIN mfu.clock ON clock.device_id = cube_kernel.device_id AND clock.start_ns <= cube_kernel.start_ns
),
ended AS (
    SELECT cube_kernel.kernel_id, clock.cycles_before + clock.clock_mhz * (cube_kernel.end_ns - clock.start_ns) AS cycles
    FROM mfu.cube_kernel
    ASOF JOIN mfu.clock ON clock.device_id = cube_kernel.device_id AND clock.start_ns <= cube_kernel.end_ns
)
SELECT kernel_id, (ended.cycles - started.cycles)::HUGEINT AS cycles
FROM started
JOIN ended USING (kernel_id)
