-- One row is a step and how long the job took for it, in the order of the steps: from the end of the step before on the device
-- to its own end there. Idle time between two steps counts for the later one.
--
-- step_id        BIGINT  profiler step
-- duration_ns    BIGINT  time from the end of the last kernel of the step before, ns; for the first step from the end of what
--                        ran before it, but no earlier than its start on the host; where the profile does not say when steps
--                        began, from its own first kernel
-- computing_ns   BIGINT  time with a compute kernel, ns
-- uncovered_ns   BIGINT  time with a communication operator and no compute kernel, ns; NULL when not known
-- idle_ns        BIGINT  the rest of duration_ns, copies included, ns
WITH begun_step AS (
    -- On the clock of the device.
    SELECT step.step_id, min(step.start_ns + clock.offset_ns) AS start_ns
    FROM trace.step
    -- All pairs: the offset of the clock is one row.
    CROSS JOIN clock.offset AS clock
    GROUP BY step.step_id
),
last_kernel AS (
    SELECT step_id, max(end_ns) AS end_ns
    FROM step.kernel_step
    GROUP BY step_id
),
whole AS (
    SELECT
        time.step_id,
        time.computing_ns,
        time.communication_not_overlapped_ns AS uncovered_ns,
        time.stage_ns + coalesce(time.bubble_ns, 0) AS span_ns,
        begun_step.start_ns,
        begun_step.start_ns + time.preparing_ns AS first_kernel_ns,
        if(first_kernel_ns IS NULL, NULL, coalesce(last_kernel.end_ns, first_kernel_ns + span_ns)) AS end_ns
    FROM step.time
    LEFT JOIN begun_step USING (step_id)
    LEFT JOIN last_kernel USING (step_id)
    WHERE time.step_id IS NOT NULL AND time.stage_ns IS NOT NULL
),
-- Kernels from before the recording, which a host that is ahead has launched, begin before the first step begins on the device.
-- Where steps overlap on the device, they run beside it: they belong to no step, and none of those begins in a later one.
first_step AS (
    SELECT arg_min(first_kernel_ns, step_id) AS first_kernel_ns, arg_min(first_kernel_ns, step_id, 2)[2] AS next_kernel_ns
    FROM whole
),
of_no_step AS (
    SELECT max(start_ns) AS last_start_ns
    FROM step.kernel_step
    WHERE step_id IS NULL
),
before AS (
    SELECT max(kernel_step.end_ns) AS end_ns
    FROM step.kernel_step
    CROSS JOIN first_step
    CROSS JOIN of_no_step
    WHERE kernel_step.start_ns < first_step.first_kernel_ns
        OR (kernel_step.step_id IS NULL AND of_no_step.last_start_ns < first_step.next_kernel_ns)
),
measured_step AS (
    SELECT
        whole.*,
        if(
            lag(step_id) OVER in_order = step_id - 1 OR lag(step_id) OVER in_order IS NULL,
            whole.end_ns - coalesce(lag(whole.end_ns) OVER in_order, greatest(whole.start_ns, before.end_ns)),
            NULL
        ) AS since_ns
    FROM whole
    CROSS JOIN before
    WINDOW in_order AS (ORDER BY step_id)
)
SELECT
    step_id,
    if(since_ns > 0, since_ns, span_ns) AS duration_ns,
    computing_ns,
    uncovered_ns,
    greatest(duration_ns - computing_ns - coalesce(uncovered_ns, 0), 0) AS idle_ns
FROM measured_step
ORDER BY step_id
