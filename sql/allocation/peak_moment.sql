-- One row is the moment at which a component held most of the memory of a device, by one of three measures. Of several such
-- moments it is the one with most allocated, then the first.
--
-- @guard trace.memory_usage
--
-- component        VARCHAR  who holds it
-- @columns role to device_id as in trace.memory_usage
-- measure          ENUM('allocated', 'active', 'reserved')  the measure that was highest; a measure that is not recorded has no
--                                                           row
-- peak_bytes       BIGINT   how much it was
-- peak_ns          BIGINT   the moment, Unix ns
-- step_id          BIGINT   profiler step; NULL outside steps
-- allocated_bytes  BIGINT   allocated at that moment; NULL when not recorded
-- reserved_bytes   BIGINT   reserved at that moment; NULL when not recorded
WITH measured_total AS (
    SELECT usage.*, unnest([
        {measure: 'allocated', bytes: allocated_bytes},
        {measure: 'active', bytes: active_bytes},
        {measure: 'reserved', bytes: reserved_bytes}
    ]) AS one
    FROM allocation.usage
)
SELECT
    component,
    role,
    device_id,
    one.measure::ENUM('allocated', 'active', 'reserved') AS measure,
    one.bytes AS peak_bytes,
    time_ns AS peak_ns,
    step_id,
    allocated_bytes,
    reserved_bytes
FROM measured_total
WHERE one.bytes IS NOT NULL
QUALIFY
    row_number() OVER (
        PARTITION BY component, role, device_id, one.measure
        ORDER BY one.bytes DESC, allocated_bytes DESC NULLS LAST, time_ns, usage_id
    ) = 1
