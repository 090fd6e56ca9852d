WITH described_task AS (
    SELECT globalTaskId FROM raw.compute_task_info
    UNION
    SELECT globalTaskId FROM raw.communication_schedule_task_info
),
timed AS (
    SELECT 'ops' AS what, startNs, endNs FROM raw.framework_op
    UNION ALL
    SELECT 'mstx ranges', startNs, endNs FROM raw.mstx_events WHERE eventType IN (1, 2)
    UNION ALL
    SELECT 'kernels', startNs, endNs FROM raw.task SEMI JOIN described_task USING (globalTaskId)
    UNION ALL
    SELECT 'communication operators', startNs, endNs FROM raw.communication_op
    UNION ALL
    SELECT 'steps', startNs, endNs FROM raw.step_time
),
judged AS (
    SELECT what, CASE WHEN endNs < startNs THEN 'they end before they start' ELSE 'they have no time' END AS reason
    FROM timed
    WHERE (endNs >= startNs) IS NOT TRUE
    UNION ALL
    SELECT 'kernels', 'no task on the device goes with their description'
    FROM described_task
    ANTI JOIN raw.task USING (globalTaskId)
)
SELECT what, reason, count(*) AS row_count
FROM judged
GROUP BY what, reason
ORDER BY what, reason
