-- One row is a moment with the memory that one component holds on a device. With a step chosen, only moments of that step.
--
-- @columns usage_id to component as in trace.memory_usage
-- @columns role to time_ns as in trace.memory_usage
-- step_id              BIGINT  profiler step; NULL outside steps
-- @columns allocated_bytes to reserved_bytes as in trace.memory_usage
-- fragmentation_bytes  BIGINT  reserved_bytes - allocated_bytes: taken from the device and not handed out; NULL where one of
--                              these is
-- @columns active_bytes to requested_bytes as in trace.memory_usage
WITH total_in_step AS (
    SELECT usage.*, if(usage.time_ns < period.end_ns, period.step_id, NULL) AS step_id
    FROM trace.memory_usage AS usage
    ASOF LEFT JOIN step.period ON usage.time_ns >= period.start_ns
)
SELECT
    usage_id,
    component,
    role,
    device_id,
    time_ns,
    step_id,
    allocated_bytes,
    reserved_bytes,
    reserved_bytes - allocated_bytes AS fragmentation_bytes,
    active_bytes,
    requested_bytes
FROM total_in_step
WHERE getvariable('step_id') IS NULL OR step_id = getvariable('step_id')
ORDER BY time_ns, role, component, device_id, allocated_bytes, reserved_bytes, active_bytes, usage_id
