-- memory_record.csv has the allocators (and sums of two of them, which are left out) and the process, npu_module_mem.csv the
-- modules of CANN, where APP is the memory that the program requests from the runtime. The MB of both are MiB. Without records
-- of the framework, those of its blocks in operator_memory.csv give its memory when each was allocated and released.
WITH of_block AS (
    SELECT
        3 AS part, row_number, 'PTA' AS component, device, allocated_ns AS time_ns, allocated_mib, reserved_mib, active_mib
    FROM raw.memory_block
    UNION ALL
    SELECT
        4, row_number, 'PTA', device, released_ns, released_allocated_mib, released_reserved_mib, released_active_mib
    FROM raw.memory_block
    WHERE released_ns IS NOT NULL
),
found_usage AS (
    SELECT 1 AS part, *, role_of_memory(component) AS role
    FROM raw.memory_record
    UNION ALL BY NAME
    SELECT 2 AS part, *, if(component = 'APP', 'program', 'part') AS role
    FROM raw.module_memory
    UNION ALL BY NAME
    SELECT *, 'framework' AS role
    FROM of_block
    WHERE active_mib IS NOT NULL
      AND NOT EXISTS (FROM raw.memory_record WHERE role_of_memory(component) = 'framework')
),
in_bytes AS (
    SELECT
        part, row_number, component, role, device_of_memory(device) AS device_id, time_ns,
        bytes_of(allocated_mib, 1048576) AS allocated_bytes,
        bytes_of(reserved_mib, 1048576) AS reserved_bytes,
        bytes_of(active_mib, 1048576) AS active_bytes
    FROM found_usage
)
SELECT
    row_number() OVER (ORDER BY part, row_number) AS usage_id,
    component,
    role::ENUM('framework', 'operators', 'workspace', 'process', 'device', 'program', 'part') AS role,
    device_id,
    time_ns,
    allocated_bytes,
    reserved_bytes,
    if(role = 'operators', NULL, active_bytes) AS active_bytes,
    NULL::BIGINT AS requested_bytes
FROM in_bytes
WHERE role IS NOT NULL AND is_moment(time_ns) AND are_totals(allocated_bytes, reserved_bytes, active_bytes)
  AND NOT getvariable('memory_is_beside')
