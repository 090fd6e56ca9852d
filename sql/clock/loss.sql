-- One row is a device of whose compute kernels some ran below the rated clock, and what this may have cost. Kernels outside
-- all steps do not count where there are steps.
--
-- @guard clock.slow_device
--
-- device_id              BIGINT   device; NULL when not recorded
-- rated_mhz              BIGINT   rated clock, as in clock.rated, MHz
-- kernel_count           BIGINT   kernels whose clock is known
-- below_count            BIGINT   those that ran below the rated clock for some of their time
-- below_ns               BIGINT   their time, ns
-- mean_below_mhz         DOUBLE   mean clock over that time, MHz
-- lost_ns                BIGINT   the most that the lower clock cost, as in clock.kernel, ns
-- critical_lost_ns       BIGINT   the part of it in kernels that are critical, as in critical.kernel, ns
-- computing_lost_ns      BIGINT   the part of critical_lost_ns in kernels that hardware counters show to be bound by computing,
--                                 ns; NULL where no kernel of the rank has counters
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
counted_kernel AS (
    SELECT
        kernel.*,
        round(
            kernel.lost_ns * coalesce(critical.critical_ns / nullif(kernel.duration_ns, 0), 1)
        )::BIGINT AS critical_lost_ns
    FROM clock.kernel
    LEFT JOIN critical.kernel AS critical ON critical.kernel_id = kernel.kernel_id
    CROSS JOIN recorded_steps
    WHERE NOT recorded_steps.has_rows OR kernel.kernel_id IN (SELECT kernel_id FROM kernels.step)
),
device_loss AS (
    SELECT
        device_id,
        count(*) AS kernel_count,
        count(*) FILTER (lost_ns > 0) AS below_count,
        (sum(duration_ns) FILTER (lost_ns > 0))::BIGINT AS below_ns,
        sum((clock_mhz * duration_ns)::HUGEINT) FILTER (lost_ns > 0) AS below_cycles,
        sum(lost_ns)::BIGINT AS lost_ns,
        coalesce(sum(critical_lost_ns), 0)::BIGINT AS critical_lost_ns,
        coalesce(sum(critical_lost_ns) FILTER (bound = 'compute'), 0)::BIGINT AS computing_lost_ns,
        count(bound) AS bound_count
    FROM counted_kernel
    GROUP BY device_id
)
SELECT
    device_loss.device_id,
    rated.rated_mhz,
    device_loss.kernel_count,
    device_loss.below_count,
    device_loss.below_ns,
    device_loss.below_cycles / nullif(device_loss.below_ns, 0) AS mean_below_mhz,
    device_loss.lost_ns,
    device_loss.critical_lost_ns,
    if(sum(device_loss.bound_count) OVER () > 0, device_loss.computing_lost_ns, NULL) AS computing_lost_ns
FROM device_loss
JOIN clock.rated USING (device_id)
WHERE device_loss.below_count > 0
