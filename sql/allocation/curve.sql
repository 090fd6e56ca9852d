-- One row is a moment by which the memory of the framework on a device is drawn, in the order of time: of each of 600 equal
-- slices of its time the moments with the most and with the least allocated.
--
-- usage_id             BIGINT   position in the order in which the profile recorded it
-- component            VARCHAR  the allocator, as the profile calls it
-- device_id            BIGINT   device; NULL when not recorded
-- time_ns              BIGINT   the moment, Unix ns
-- since_ns             BIGINT   time since the first moment of the device, ns
-- @columns step_id to active_bytes as in allocation.usage
WITH moment AS (
    SELECT
        *,
        time_ns - min(time_ns) OVER of_device AS since_ns,
        since_ns::HUGEINT * 600 // (max(time_ns) OVER of_device - min(time_ns) OVER of_device + 1) AS slice
    FROM allocation.usage
    WHERE role = 'framework'
    WINDOW of_device AS (PARTITION BY device_id)
)
SELECT
    usage_id,
    component,
    device_id,
    time_ns,
    since_ns,
    step_id,
    allocated_bytes,
    reserved_bytes,
    fragmentation_bytes,
    active_bytes
FROM moment
QUALIFY row_number() OVER (PARTITION BY device_id, slice ORDER BY allocated_bytes DESC NULLS LAST, time_ns, usage_id) = 1
    OR row_number() OVER (PARTITION BY device_id, slice ORDER BY allocated_bytes, time_ns DESC, usage_id DESC) = 1
ORDER BY time_ns, usage_id
