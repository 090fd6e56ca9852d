-- Who holds memory, by the name of the component; NULL for sums of several.
CREATE MACRO IF NOT EXISTS role_of_memory(component) AS
    CASE component
        WHEN 'PTA' THEN 'framework'
        WHEN 'GE' THEN 'operators'
        WHEN 'WORKSPACE' THEN 'workspace'
        WHEN 'APP' THEN 'process'
        WHEN 'DEVICE' THEN 'device'
    END;

-- Whether a block can have a size: a petabyte is damage, and sums of such sizes would not fit.
CREATE MACRO IF NOT EXISTS is_size(bytes) AS bytes > 0 AND bytes < 1125899906842624;

-- The same for the size of an event, which is negative for a release.
CREATE MACRO IF NOT EXISTS is_change(bytes) AS bytes <> 0 AND bytes BETWEEN -1125899906842623 AND 1125899906842623;

-- The same for totals, some of which are not recorded.
CREATE MACRO IF NOT EXISTS are_totals(allocated, reserved, active) AS
    least(allocated, reserved, active) >= 0 AND greatest(allocated, reserved, active) < 1125899906842624;

-- Whether a block can have been allocated at a time, and released no earlier, where it was.
CREATE MACRO IF NOT EXISTS is_lifetime(allocated_ns, released_ns) AS
    allocated_ns >= 0 AND is_host_time(allocated_ns, coalesce(released_ns, allocated_ns));

-- Why a record of memory is set aside whose times is_lifetime() or is_moment() rejects.
CREATE MACRO IF NOT EXISTS why_not_alive(allocated_ns, released_ns) AS
    if(
        allocated_ns < 0,
        'they have no time',
        why_set_aside(allocated_ns, coalesce(released_ns, allocated_ns), getvariable('host_longest_ns'))
    );

-- Whether something can have been recorded at a moment.
CREATE MACRO IF NOT EXISTS is_moment(time_ns) AS time_ns >= 0 AND is_host_time(time_ns, time_ns);

-- The device in a text such as NPU:0.
CREATE MACRO IF NOT EXISTS device_of_memory(text) AS TRY_CAST(regexp_extract(text, '(\d+)\s*$', 1) AS BIGINT);

-- An amount in a larger unit as bytes.
CREATE MACRO IF NOT EXISTS bytes_of(amount, unit_bytes) AS TRY(round(amount * unit_bytes)::BIGINT);

-- The allocator of a device of PyTorch, by the number of its type.
CREATE MACRO IF NOT EXISTS name_of_device_type(device_type) AS
    CASE device_type WHEN 1 THEN 'CUDA' WHEN 6 THEN 'HIP' WHEN 12 THEN 'XPU' ELSE 'device type ' || device_type END;

-- An amount of memory as people read it, in the largest unit that leaves a whole number before the point.
CREATE MACRO IF NOT EXISTS shown_bytes(bytes) AS
    CASE
        WHEN abs(bytes) >= 1073741824 THEN format('{:.2f} GiB', bytes / 1073741824)
        WHEN abs(bytes) >= 1048576 THEN format('{:.1f} MiB', bytes / 1048576)
        ELSE format('{:.1f} KiB', bytes / 1024)
    END;
