-- One row is a device: how the least that the framework held in a step changed from the first step to the last one.
--
-- device_id    BIGINT  device; NULL when not recorded
-- step_count   BIGINT  steps
-- first_bytes  BIGINT  least that was allocated in the first step; NULL when not recorded
-- last_bytes   BIGINT  least that was allocated in the last step; NULL when not recorded
SELECT
    device_id,
    count(*) AS step_count,
    arg_min_null(floor_bytes, step_id) AS first_bytes,
    arg_max_null(floor_bytes, step_id) AS last_bytes
FROM allocation.step
WHERE role = 'framework'
GROUP BY device_id
ORDER BY device_id
