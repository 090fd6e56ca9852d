-- One row is the time in which tasks of communication operators run: less than that of the operators, which also lasts between
-- their tasks. Some versions of the profiler count it in place of that of the operators. Without such tasks there is no row.
--
-- @guard step.reported_doubt
--
-- of_steps_ns    BIGINT  time with a task of an operator of a step, ns; where no operator has a known step, of any
-- all_ns         BIGINT  time with a task of any operator, ns
-- stretch_count  BIGINT  stretches of tasks without a gap
WITH task AS (
    SELECT 'all' AS what, start_ns, end_ns
    FROM trace.communication_task
    UNION ALL
    SELECT 'of steps', communication_task.start_ns, communication_task.end_ns
    FROM trace.communication_task
    JOIN step.kernel_step USING (kernel_id)
    WHERE kernel_step.step_id IS NOT NULL OR NOT EXISTS (FROM step.kernel_step WHERE step_id IS NOT NULL)
)
SELECT
    coalesce(sum(added_ns) FILTER (what = 'of steps'), 0)::BIGINT AS of_steps_ns,
    sum(added_ns) FILTER (what = 'all')::BIGINT AS all_ns,
    count(*) FILTER (what = 'all' AND coalesce(start_ns > before_ns, true)) AS stretch_count
FROM added(task, what)
HAVING count(*) > 0
