-- If a database holds several devices, host rows and rows without a device belong to the first of them.
WITH described_task AS NOT MATERIALIZED (
    SELECT globalTaskId FROM raw.compute_task_info
    UNION ALL
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
host_row AS (
    SELECT 'ops' AS what, startNs AS start_ns, endNs AS end_ns FROM raw.framework_op
    UNION ALL
    SELECT 'mstx ranges', startNs, endNs FROM raw.mstx_events WHERE eventType IN (1, 2)
    UNION ALL
    SELECT 'mstx marks', startNs, startNs FROM raw.mstx_events WHERE eventType IN (0, 3)
    UNION ALL
    SELECT 'steps', startNs, endNs FROM raw.step_time
),
device_row AS (
    SELECT 'intervals of the Overlap Analysis' AS what, deviceId, startNs AS start_ns, endNs AS end_ns
    FROM raw.overlap_analysis
    WHERE type BETWEEN 0 AND 3
    UNION ALL
    SELECT
        if(globalTaskId IN (FROM described_task), 'kernels', 'other tasks on the device'), deviceId, startNs, endNs
    FROM task
    UNION ALL
    SELECT 'communication operators', deviceId, startNs, endNs FROM raw.communication_op
),
rejected_row AS (
    SELECT what, NULL::BIGINT AS deviceId, getvariable('host_longest_ns') AS longest_ns, start_ns, end_ns, NULL AS reason
    FROM host_row
    WHERE is_host_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT what, deviceId, getvariable('device_longest_ns'), start_ns, end_ns, NULL
    FROM device_row
    WHERE is_device_time(start_ns, end_ns) IS NOT TRUE
    UNION ALL
    SELECT 'kernels', NULL, NULL, NULL, NULL, 'no task on the device goes with their description'
    FROM (SELECT DISTINCT globalTaskId FROM described_task ANTI JOIN task USING (globalTaskId))
    UNION ALL
    SELECT 'tasks of communication operators', NULL, NULL, NULL, NULL, 'their operator is not recorded'
    FROM raw.communication_task_info
    ANTI JOIN raw.communication_op USING (opId)
    WHERE opId IS NOT NULL AND EXISTS (FROM raw.communication_op WHERE opId IS NOT NULL)
),
rejected_of_device AS (
    FROM rejected_row
    WHERE getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id')
)
FROM set_aside_of(rejected_of_device, coalesce(reason, why_set_aside(start_ns, end_ns, longest_ns)))
ORDER BY what, reason
