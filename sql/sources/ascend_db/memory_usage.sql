-- MEMORY_RECORD has the allocators (and sums of two of them, which are left out), NPU_MEM samples of the process and the
-- device, NPU_MODULE_MEM samples of the modules of CANN, where APP is the memory that the program requests from the runtime. A
-- device
-- without  HBM  has its memory in DDR. Databases of msprof alone have totals in NPU_OP_MEM only.
WITH found_usage AS (
    SELECT
        1 AS part, row_id, component.value AS component, role_of_memory(component.value) AS role, deviceId AS device_id,
        timestamp AS time_ns, totalAllocated AS allocated_bytes, totalReserved AS reserved_bytes, totalActive AS active_bytes
    FROM raw.memory_record
    JOIN raw.string_ids AS component ON component.id = memory_record.component
    UNION ALL BY NAME
    SELECT
        2 AS part, row_id, upper(holder.value) AS component, role_of_memory(upper(holder.value)) AS role,
        deviceId AS device_id, timestampNs AS time_ns, coalesce(nullif(hbm, 0), ddr) AS reserved_bytes
    FROM raw.npu_mem
    JOIN raw.string_ids AS holder ON holder.id = npu_mem.type
    UNION ALL BY NAME
    SELECT
        3 AS part, row_id, module.name AS component, if(module.name = 'APP', 'program', 'part') AS role,
        deviceId AS device_id, timestampNs AS time_ns,
        totalReserved AS reserved_bytes
    FROM raw.npu_module_mem
    JOIN raw.enum_module AS module ON module.id = moduleId
    UNION ALL BY NAME
    SELECT
        4 AS part, row_id, component.value AS component, role_of_memory(component.value) AS role, deviceId AS device_id,
        timestampNs AS time_ns, totalAllocate AS allocated_bytes, totalReserve AS reserved_bytes
    FROM raw.npu_op_mem
    JOIN raw.string_ids AS component ON component.id = npu_op_mem.component
    WHERE NOT EXISTS (FROM raw.memory_record)
)
SELECT
    row_number() OVER (ORDER BY part, row_id) AS usage_id,
    component,
    role::ENUM('framework', 'operators', 'workspace', 'process', 'device', 'program', 'part') AS role,
    device_id,
    time_ns,
    allocated_bytes,
    reserved_bytes,
    if(role = 'operators', NULL, active_bytes) AS active_bytes,
    NULL::BIGINT AS requested_bytes
FROM found_usage
WHERE role IS NOT NULL AND is_moment(time_ns) AND are_totals(allocated_bytes, reserved_bytes, active_bytes)
  AND (getvariable('device_id') IS NULL OR coalesce(device_id, getvariable('first_device_id')) = getvariable('device_id'))
  AND NOT getvariable('memory_is_beside')
