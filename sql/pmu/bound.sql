-- One row is a kernel with ratios of its pipes, and what bounds it: the kind of its busiest pipe, or waiting where no pipe is
-- busy for half of the kernel's time.
--
-- kernel_id  BIGINT   a kernel of pmu.kernel_counters
-- bound      VARCHAR  compute (mac, vec), memory (mte2, mte3: to and from the memory of the device and its L2 cache), on chip
--                     (mte1, fixpipe: within the core, and results out of the matrix unit), scalar, or wait; of equal ones the
--                     first
--
-- A kernel whose counted cores have no such pipe, and whose others were not counted, has no row: what bounds it is not known.
--
-- A recorded ratio is a part of the core's time; the kernel's time is longer by the time in which the core did not run.
WITH busy AS (
    SELECT
        kernel_id,
        aic_is_uncounted OR aiv_is_uncounted AS is_part,
        coalesce(least(1, aic_time_ns / nullif(duration_ns, 0)), 1) AS aic_share,
        coalesce(least(1, aiv_time_ns / nullif(duration_ns, 0)), 1) AS aiv_share,
        greatest(aic_mac_ratio * aic_share, aiv_vec_ratio * aiv_share) AS compute,
        greatest(aic_mte2_ratio * aic_share, aiv_mte2_ratio * aiv_share, aiv_mte3_ratio * aiv_share) AS memory,
        greatest(aic_mte1_ratio * aic_share, aic_fixpipe_ratio * aic_share) AS on_chip,
        greatest(aic_scalar_ratio * aic_share, aiv_scalar_ratio * aiv_share) AS scalar
    FROM pmu.kernel_counters
)
SELECT
    kernel_id,
    CASE greatest(0.5, compute, memory, on_chip, scalar)
        WHEN compute THEN 'compute'
        WHEN memory THEN 'memory'
        WHEN on_chip THEN 'on chip'
        WHEN scalar THEN 'scalar'
        ELSE 'wait'
    END AS bound
FROM busy
WHERE coalesce(compute, memory, on_chip, scalar) IS NOT NULL
  AND NOT (is_part AND greatest(compute, memory, on_chip, scalar) < 0.5)
