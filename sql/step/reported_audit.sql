-- One row is a time that the profiler itself reported for its steps (step_trace_time.csv, analysis.db), all steps together,
-- next to the same time from the kernels. Without such a file, or without kernels, there are no rows.
--
-- @guard trace.reported_step
--
-- @columns kind to all_kernels_ns as in step.reported_comparison
-- difference_ns   BIGINT   recorded - kernels
-- agrees          BOOLEAN  whether the difference can come from rounding, from the way in which the profiler counts kernels
--                          between steps, or from tasks that it counts in place of operators
-- reason          VARCHAR  why a larger difference still agrees; NULL when there is no such reason
WITH with_verdict AS (
    SELECT
        comparison.*,
        NOT is_equal
        AND kind = 'communication'
        AND coalesce(
            recorded_ns BETWEEN task_time.of_steps_ns - 1 - task_time.stretch_count * rounding_ns
                AND task_time.all_ns + between_ns + 1 + task_time.stretch_count * rounding_ns,
            false
        ) AS is_of_tasks
    FROM step.reported_comparison AS comparison
    LEFT JOIN step.task_time ON true
)
SELECT
    kind,
    file,
    step_count,
    recorded_ns,
    kernels_ns,
    all_kernels_ns,
    recorded_ns - kernels_ns AS difference_ns,
    is_equal OR is_of_tasks AS agrees,
    if(is_of_tasks, 'the profiler counted the tasks of operators, without the time between them', NULL) AS reason
FROM with_verdict
ORDER BY kind
