-- One row is a component that holds memory of a device: how much it held at most, and when the framework had most allocated.
-- The process includes the memory of the parts of the software and of the allocators. A compiled graph is a part, too: its
-- memory was planned when it was compiled.
--
-- @guard allocation.record
--
-- @columns role to device_id as in allocation.peak
-- peak_allocated_bytes  BIGINT  most that was allocated; NULL when not recorded
-- peak_active_bytes     BIGINT  most that was active; NULL when not recorded
-- peak_reserved_bytes   BIGINT  most that was reserved; NULL when not recorded
-- at_peak_bytes         BIGINT  bytes that it had reserved, else allocated, at the moment when the allocator of the framework
--                               had most allocated: at the last record until then, else the first one after; NULL without a
--                               framework
-- memory_bytes          BIGINT  all memory of the device; NULL when not recorded
WITH moment AS (
    SELECT coalesce(device_id, -1) AS device_number, arg_max(peak_ns, (peak_bytes, -peak_ns)) AS peak_ns
    FROM allocation.peak_moment
    WHERE role = 'framework' AND measure = 'allocated'
    GROUP BY device_number
),
held_memory AS (
    SELECT
        usage.component,
        usage.role,
        usage.device_id,
        max(usage.allocated_bytes) AS peak_allocated_bytes,
        max(usage.active_bytes) AS peak_active_bytes,
        max(usage.reserved_bytes) AS peak_reserved_bytes,
        arg_max(coalesce(usage.reserved_bytes, usage.allocated_bytes), (usage.time_ns, usage.usage_id))
            FILTER (usage.time_ns <= moment.peak_ns) AS until_peak_bytes,
        arg_min(coalesce(usage.reserved_bytes, usage.allocated_bytes), (usage.time_ns, usage.usage_id))
            FILTER (usage.time_ns > moment.peak_ns) AS after_peak_bytes
    FROM allocation.usage
    LEFT JOIN moment ON moment.device_number = coalesce(usage.device_id, -1)
    GROUP BY usage.component, usage.role, usage.device_id
),
any_memory AS (
    SELECT
        role,
        component,
        device_id,
        peak_allocated_bytes,
        peak_active_bytes,
        peak_reserved_bytes,
        coalesce(until_peak_bytes, after_peak_bytes) AS at_peak_bytes
    FROM held_memory
    UNION ALL
    SELECT
        'part'::ENUM('framework', 'operators', 'workspace', 'process', 'device', 'program', 'part'),
        'static memory of graph ' || coalesce(graph_id::VARCHAR, '(no number)') || coalesce(' ' || model, ''),
        device_id,
        peak_bytes,
        NULL,
        NULL,
        NULL
    FROM allocation.static_graph
)
SELECT
    held_memory.*,
    device.memory_bytes
FROM any_memory AS held_memory
LEFT JOIN trace.device_memory AS device ON device.device_id IS NOT DISTINCT FROM held_memory.device_id
WHERE greatest(held_memory.peak_allocated_bytes, held_memory.peak_reserved_bytes) > 0
ORDER BY
    held_memory.role,
    coalesce(held_memory.peak_reserved_bytes, held_memory.peak_allocated_bytes) DESC,
    held_memory.component,
    held_memory.device_id
