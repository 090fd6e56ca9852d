-- Unit of a hardware counter by its name, the same for all versions and chips; NULL for a name that implies no unit.
CREATE MACRO IF NOT EXISTS unit_of_counter(name) AS
    CASE
        WHEN ends_with(name, '_time') THEN 'ns'
        WHEN ends_with(name, '_cycles') THEN 'cycles'
        WHEN name = 'cube_utilization' THEN '%'
        WHEN regexp_matches(name, '_(ratio|rate)$|^memory_bound$') THEN 'ratio'
        WHEN regexp_matches(name, '_bw(_[a-z]+)?$') THEN 'GB/s'
        WHEN ends_with(name, '_datas') THEN 'KB'
        WHEN regexp_matches(name, '_(hit|miss|miss_allocate|victim)$') THEN 'count'
        WHEN ends_with(name, '_fops') THEN 'operations'
    END;

-- `possible`, which holds at the rated clock (MHz), scaled to the real clock: the one that made `cycles` thousandths of a cycle
-- in duration_ns.
CREATE MACRO IF NOT EXISTS at_clock(possible, clock_mhz, duration_ns, cycles) AS
    TRY((possible * cycles // (clock_mhz * duration_ns::HUGEINT))::HUGEINT);

-- The bound with the most time; of equal times the first; NULL when nothing bounds.
CREATE MACRO IF NOT EXISTS longest_bound(compute_ns, memory_ns, on_chip_ns, scalar_ns, wait_ns) AS
    CASE nullif(greatest(compute_ns, memory_ns, on_chip_ns, scalar_ns, wait_ns), 0)
        WHEN compute_ns THEN 'compute'
        WHEN memory_ns THEN 'memory'
        WHEN on_chip_ns THEN 'on chip'
        WHEN scalar_ns THEN 'scalar'
        WHEN wait_ns THEN 'wait'
    END;

-- Kernels and how busy their pipes are, by kind: the columns of `counters`, the name of a CTE with rows of
-- pmu.kernel_counters, with is_part, whether one of the cores was not counted, the shares of the kernel's time in which a
-- pipe of each kind is busy, `compute`, `memory`, `on_chip` and `scalar`, as in pmu.bound, and `busiest`, the largest of
-- them. A kernel whose counted cores have no pipe that is busy for half of its time, and whose others were not counted, has
-- no row: what bounds it is not known. A recorded ratio is a part of the core's time; the kernel's time is longer by the time
-- in which the core did not run.
-- A step for each: what one SELECT names, DuckDB works out again for each of its expressions, and for the filter. pmu.bound
-- of a million kernels takes 0.16 s in place of 0.42.
CREATE MACRO IF NOT EXISTS busy_pipes(counters) AS TABLE
    WITH with_share AS (
        SELECT
            *,
            aic_is_uncounted OR aiv_is_uncounted AS is_part,
            coalesce(least(1, aic_time_ns / nullif(duration_ns, 0)), 1) AS aic_share,
            coalesce(least(1, aiv_time_ns / nullif(duration_ns, 0)), 1) AS aiv_share
        FROM query_table(counters)
    ),
    with_kind AS (
        SELECT
            *,
            greatest(aic_mac_ratio * aic_share, aiv_vec_ratio * aiv_share) AS compute,
            greatest(aic_mte2_ratio * aic_share, aiv_mte2_ratio * aiv_share, aiv_mte3_ratio * aiv_share) AS memory,
            greatest(aic_mte1_ratio * aic_share, aic_fixpipe_ratio * aic_share) AS on_chip,
            greatest(aic_scalar_ratio * aic_share, aiv_scalar_ratio * aiv_share) AS scalar
        FROM with_share
    ),
    with_busiest AS (
        SELECT *, greatest(compute, memory, on_chip, scalar) AS busiest
        FROM with_kind
    )
    FROM with_busiest
    WHERE busiest IS NOT NULL AND NOT (is_part AND busiest < 0.5);
