-- One row is a rank and a device: how far its memory was from being full, and what held it. Ranks with the least left come
-- first; where the memory of a device is not known, those that use most.
--
-- profile               VARCHAR  folder of the rank
-- rank_id               INTEGER  rank; NULL when not known
-- device_id             BIGINT   device; NULL when not recorded
-- component             VARCHAR  allocator of the framework; NULL without its records
-- memory_bytes          BIGINT   all memory of the device; NULL when not recorded
-- used_bytes            BIGINT   most that was in use on the device, by the widest record there is: of the device, of the
--                                process, else of the allocators; reserved, else allocated; NULL when only parts of it are
--                                recorded
-- used_by               VARCHAR  the scope of used_bytes: device, process or allocators; NULL when used_bytes is
-- left_bytes            BIGINT   memory_bytes - used_bytes; NULL when the memory is not known
-- left_share            DOUBLE   left_bytes / memory_bytes; NULL when the memory is not known
-- peak_allocated_bytes  BIGINT   most that the framework had allocated; NULL when not recorded
-- peak_active_bytes     BIGINT   most that was active in it; NULL when not recorded
-- peak_reserved_bytes   BIGINT   most that the framework had reserved; NULL when not recorded
-- fragmentation_bytes   BIGINT   bytes that it had reserved and not allocated when it had most allocated; NULL when not
--                                recorded
-- before_bytes          BIGINT   part of peak_allocated_bytes that was allocated before the recording began; 0 without any
-- beside_bytes          BIGINT   bytes that the process held beside the framework at that moment; NULL when not recorded
WITH memory_of_device AS (
    SELECT
        profile,
        rank_id,
        device_id,
        max(component) FILTER (role = 'framework') AS component,
        max(memory_bytes) AS memory_bytes,
        max(peak_reserved_bytes) FILTER (role = 'device') AS device_bytes,
        max(coalesce(peak_reserved_bytes, peak_allocated_bytes)) FILTER (role = 'process') AS process_bytes,
        sum(coalesce(peak_reserved_bytes, peak_allocated_bytes))
            FILTER (role IN ('framework', 'operators', 'workspace'))::BIGINT AS allocator_bytes,
        max(at_peak_bytes) FILTER (role = 'process') - max(at_peak_bytes) FILTER (role = 'framework') AS beside_bytes
    FROM allocation.component
    GROUP BY profile, rank_id, device_id
),
framework AS (
    SELECT
        profile,
        device_id,
        max(peak_bytes) FILTER (measure = 'allocated') AS peak_allocated_bytes,
        max(peak_bytes) FILTER (measure = 'active') AS peak_active_bytes,
        max(peak_bytes) FILTER (measure = 'reserved') AS peak_reserved_bytes,
        max(reserved_bytes - allocated_bytes) FILTER (measure = 'allocated') AS fragmentation_bytes
    FROM allocation.peak_moment
    WHERE role = 'framework'
    GROUP BY profile, device_id
),
before AS (
    SELECT profile, device_id, sum(live_bytes)::BIGINT AS before_bytes
    FROM allocation.peak
    WHERE role = 'framework' AND measure = 'allocated' AND part = 'allocated before'
    GROUP BY profile, device_id
)
SELECT
    memory_of_device.profile,
    memory_of_device.rank_id,
    memory_of_device.device_id,
    memory_of_device.component,
    memory_of_device.memory_bytes,
    coalesce(memory_of_device.device_bytes, memory_of_device.process_bytes, memory_of_device.allocator_bytes) AS used_bytes,
    CASE
        WHEN memory_of_device.device_bytes IS NOT NULL THEN 'device'
        WHEN memory_of_device.process_bytes IS NOT NULL THEN 'process'
        WHEN memory_of_device.allocator_bytes IS NOT NULL THEN 'allocators'
    END AS used_by,
    memory_of_device.memory_bytes - used_bytes AS left_bytes,
    left_bytes / memory_of_device.memory_bytes AS left_share,
    framework.peak_allocated_bytes,
    framework.peak_active_bytes,
    framework.peak_reserved_bytes,
    framework.fragmentation_bytes,
    coalesce(before.before_bytes, 0) AS before_bytes,
    memory_of_device.beside_bytes
FROM memory_of_device
LEFT JOIN framework
    ON framework.profile = memory_of_device.profile AND framework.device_id IS NOT DISTINCT FROM memory_of_device.device_id
LEFT JOIN before
    ON before.profile = memory_of_device.profile AND before.device_id IS NOT DISTINCT FROM memory_of_device.device_id
ORDER BY
    if(bool_and(memory_of_device.memory_bytes IS NOT NULL) OVER (), left_share, NULL) NULLS LAST,
    used_bytes DESC,
    memory_of_device.profile,
    memory_of_device.device_id
