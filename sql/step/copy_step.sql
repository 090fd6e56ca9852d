-- One row is a copy and the step in which the host requested it: when the op that the profile names for it started, else when
-- its task was put into the task queue, or without a queue when it was launched. A copy that is a kernel belongs to the step of
-- the kernel.
--
-- @guard trace.copy
--
-- copy_id  BIGINT  a copy of trace.copy
-- step_id  BIGINT  a step of trace.step; NULL when it is of no step, and without steps
WITH of_period AS (
    SELECT request.copy_id, period.step_id
    FROM step.copy_request AS request
    JOIN trace.copy USING (copy_id)
    ASOF JOIN step.period ON request.asked_ns >= period.start_ns
    WHERE copy.kernel_id IS NULL AND request.asked_ns < period.end_ns
    UNION ALL
    SELECT copy.copy_id, step.step_id
    FROM trace.copy
    JOIN kernels.step USING (kernel_id)
)
SELECT copy.copy_id, of_period.step_id
FROM trace.copy
LEFT JOIN of_period USING (copy_id)
