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
