-- One row is a kernel with ratios of its pipes, and what bounds it: the kind of its busiest pipe, or waiting where no pipe is
-- busy for half of the kernel's time.
--
-- kernel_id  BIGINT   a kernel of pmu.kernel_counters
-- bound      VARCHAR  compute (mac, vec), memory (mte2, mte3: to and from the memory of the device and its L2 cache), on chip
--                     (mte1, fixpipe: within the core, and results out of the matrix unit), scalar, or wait; of equal ones the
--                     first
--
-- A kernel whose counted cores have no such pipe, and whose others were not counted, has no row: what bounds it is not known.
WITH counters AS (
    FROM pmu.kernel_counters
)
SELECT
    kernel_id,
    CASE greatest(0.5, busiest)
        WHEN compute THEN 'compute'
        WHEN memory THEN 'memory'
        WHEN on_chip THEN 'on chip'
        WHEN scalar THEN 'scalar'
        ELSE 'wait'
    END AS bound
FROM busy_pipes(counters)
