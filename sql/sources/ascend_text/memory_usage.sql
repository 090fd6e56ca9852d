-- memory_record.csv has the allocators (and sums of two of them, which are left out) and the process, npu_module_mem.csv the
-- modules of CANN, of which APP is what the program asks the runtime for. What both call MB is MiB.
WITH found AS (
    SELECT 1 AS part, *, role_of_memory(component) AS role
    FROM raw.memory_record
    UNION ALL BY NAME
    SELECT 2 AS part, *, if(component = 'APP', 'program', 'part') AS role
    FROM raw.module_memory
),
in_bytes AS (
    SELECT
        part, row_number, component, role, device_of_memory(device) AS device_id, time_ns,
        bytes_of(allocated_mib, 1048576) AS allocated_bytes,
        bytes_of(reserved_mib, 1048576) AS reserved_bytes,
        bytes_of(active_mib, 1048576) AS active_bytes
    FROM found
)
SELECT
    row_number() OVER (ORDER BY part, row_number) AS usage_id,
    component,
    role::ENUM('framework', 'operators', 'workspace', 'process', 'device', 'program', 'part') AS role,
    device_id,
    time_ns,
    allocated_bytes,
    reserved_bytes,
    if(role = 'operators', NULL, active_bytes) AS active_bytes
FROM in_bytes
WHERE role IS NOT NULL AND time_ns >= 0 AND are_totals(allocated_bytes, reserved_bytes, active_bytes)
