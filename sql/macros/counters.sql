-- Unit of a hardware counter by its name, as all versions and chips use it; NULL for a name that says none.
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

-- What is possible at the rated clock in MHz, at the clock that took so many thousandths of cycles in the same time.
CREATE MACRO IF NOT EXISTS at_clock(possible, clock_mhz, duration_ns, cycles) AS
    TRY((possible * cycles // (clock_mhz * duration_ns::HUGEINT))::HUGEINT);
