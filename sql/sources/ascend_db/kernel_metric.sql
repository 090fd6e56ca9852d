-- Counters are recorded of a task, so all executions of a task id have the same.
WITH unit AS (
    SELECT text_id, unit_of_counter(lower(text)) AS unit
    FROM trace.string
    WHERE text_id IN (SELECT DISTINCT name FROM raw.task_pmu_info)
)
SELECT kernel.kernel_id, pmu.name AS metric_id, pmu.value, unit.unit
FROM raw.task_pmu_info AS pmu
JOIN trace.kernel ON kernel.pmu_id = pmu.globalTaskId
LEFT JOIN unit ON unit.text_id = pmu.name
WHERE pmu.value IS NOT NULL
