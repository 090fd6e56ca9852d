-- Where a database holds several devices, what the host did and what names no device belongs to the first of them.
WITH described_task AS (
    SELECT globalTaskId FROM raw.compute_task_info
    UNION
    SELECT globalTaskId FROM raw.communication_schedule_task_info
),
type_without_work AS (
    SELECT text_id AS taskType
    FROM trace.string
    WHERE text_id IN (SELECT taskType FROM raw.task) AND is_task_without_work(text)
),
task AS (
    FROM raw.task
    ANTI JOIN type_without_work USING (taskType)
),
timed AS (
    SELECT 'ops' AS what, NULL::BIGINT AS deviceId, startNs, endNs FROM raw.framework_op
    UNION ALL
    SELECT 'mstx ranges', NULL, startNs, endNs FROM raw.mstx_events WHERE eventType IN (1, 2)
    UNION ALL
    SELECT 'mstx marks', NULL, startNs, startNs FROM raw.mstx_events WHERE eventType IN (0, 3)
    UNION ALL
    SELECT 'intervals of the Overlap Analysis', deviceId, startNs, endNs FROM raw.overlap_analysis WHERE type BETWEEN 0 AND 3
    UNION ALL
    SELECT 'kernels', deviceId, startNs, endNs FROM task SEMI JOIN described_task USING (globalTaskId)
    UNION ALL
    SELECT 'communication operators', deviceId, startNs, endNs FROM raw.communication_op
    UNION ALL
    SELECT 'steps', NULL, startNs, endNs FROM raw.step_time
),
rejected AS (
    SELECT what, deviceId, why_set_aside(startNs, endNs) AS reason
    FROM timed
    WHERE (endNs >= startNs) IS NOT TRUE
    UNION ALL
    SELECT 'kernels', NULL, 'no task on the device goes with their description'
    FROM described_task
    ANTI JOIN task USING (globalTaskId)
)
SELECT what, reason, count(*) AS row_count
FROM rejected
WHERE getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id')
GROUP BY what, reason
ORDER BY what, reason
