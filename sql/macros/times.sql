-- Whether the interval that ends at outer_end_ns and started no later than start_ns covers [start_ns, end_ns]. With a nesting
-- tolerance, that of the user unless `within_ns` is given, an outer interval that has not ended at start_ns may end that much
-- too early; touching neighbours never cover each other. The default is NULL: DuckDB would evaluate another one at once.
CREATE MACRO IF NOT EXISTS covers(outer_end_ns, start_ns, end_ns, within_ns := NULL) AS
    outer_end_ns >= end_ns
    OR (outer_end_ns > start_ns AND outer_end_ns + coalesce(within_ns, getvariable('nesting_tolerance_ns')) >= end_ns);

-- A sum of durations in ps as whole ns, halves rounded up.
CREATE MACRO IF NOT EXISTS ns_of_ps(picoseconds) AS ((picoseconds + 500) // 1000)::BIGINT;

-- A text in us as whole ns; NULL when it is not a number.
CREATE MACRO IF NOT EXISTS ns_of_us(microseconds) AS TRY((TRY_CAST(microseconds AS DECIMAL(30, 3)) * 1000)::BIGINT);

-- The same for text that mostly has 16 digits and three decimals: it takes 0.09 us per value, not 0.26. Shorter text can be
-- 1.5e3.
CREATE MACRO IF NOT EXISTS ns_of_us_timestamp(microseconds) AS
    CASE
        WHEN length(microseconds) > 15 AND instr(microseconds, '.') = length(microseconds) - 3
        THEN TRY_CAST(replace(microseconds, '.', '') AS BIGINT)
        ELSE ns_of_us(microseconds)
    END;

-- The same for up to 12 digits before the point: it takes 0.03 us per value, not 0.14.
CREATE MACRO IF NOT EXISTS ns_of_us_duration(microseconds) AS
    TRY((TRY_CAST(microseconds AS DECIMAL(18, 3)) * 1000)::BIGINT);

-- Whether a row can have these times by the clock of the host: it ends at or after its start, and lies neither outside of the
-- recording by more than its length nor lasts longer than all of it. Sources set the bounds (sources/readers/bounds.py), which
-- are open where no row lies beyond.
CREATE MACRO IF NOT EXISTS is_host_time(start_ns, end_ns) AS
    end_ns >= start_ns
    AND is_within(start_ns, end_ns, getvariable('host_from_ns'), getvariable('host_to_ns'), getvariable('host_longest_ns'));

-- The same by the clock of the device.
CREATE MACRO IF NOT EXISTS is_device_time(start_ns, end_ns) AS
    end_ns >= start_ns
    AND is_within(
        start_ns, end_ns, getvariable('device_from_ns'), getvariable('device_to_ns'), getvariable('device_longest_ns')
    );

CREATE MACRO IF NOT EXISTS is_within(start_ns, end_ns, from_ns, to_ns, longest_ns) AS
    start_ns >= coalesce(from_ns, -9223372036854775808)::BIGINT
    AND end_ns <= coalesce(to_ns, 9223372036854775807)::BIGINT
    AND TRY(end_ns - start_ns) <= coalesce(longest_ns, 9223372036854775807)::BIGINT;
