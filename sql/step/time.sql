-- One row is a step and where its time went on the device, in the order of the steps. Time in which kernels overlap counts
-- once, and where steps overlap on the device, for the one whose turn it is (step.turn), with the kernels of all steps. Without
-- steps, one row is the whole profile; with steps, kernels that belong to no step have a row of their own. A rank without
-- kernels has the times that the profiler itself reported (step_trace_time.csv, analysis.db); those that it did not report are
-- NULL.
--
-- @sum computing_ns, communication_ns, communication_not_overlapped_ns, overlapped_ns, free_ns, stage_ns, bubble_ns,
--     preparing_ns
--
-- step_id                          BIGINT   number of the step; NULL for the whole profile and for kernels of no step
-- computing_ns                     BIGINT   time with a compute kernel, ns
-- communication_ns                 BIGINT   time with a communication operator, ns
-- communication_not_overlapped_ns  BIGINT   time with a communication operator and no compute kernel, ns
-- overlapped_ns                    BIGINT   time with both, ns
-- free_ns                          BIGINT   idle time: time without any kernel, between the first start and the last end, ns;
--                                           NULL for kernels of no step
-- stage_ns                         BIGINT   from the first start to the last end without the bubble, ns, so that stage + bubble
--                                           = computing + communication not overlapped + copying not overlapped + free; NULL
--                                           for kernels of no step
-- bubble_ns                        BIGINT   time with an hcom_receive operator, which waits for another pipeline stage, ns
-- preparing_ns                     BIGINT   from the start of the step on the host (without steps, of the first op) to the
--                                           first kernel, ns; where that start is not known, the time that the profiler itself
--                                           reported; NULL when that is not known either, where a kernel ran before that start,
--                                           and for kernels of no step
-- origin                           VARCHAR  where the times come from: kernels, or profiler
-- reason                           VARCHAR  why something is NULL, or why preparing comes from the profiler though the other
--                                           times come from kernels; NULL when neither applies
-- copying_not_overlapped_ns        BIGINT   time with a copy and neither a compute kernel nor a communication operator, ns; 0
--                                           where copies are no kernels, as on Ascend: then it is free time; NULL where the
--                                           times come from the profiler
-- host_ns                          BIGINT   from the start of the step to its end on the host, ns; NULL where these are not
--                                           known, for the whole profile and for kernels of no step
-- idle_before_ns                   BIGINT   idle time between the last kernel of the steps before and the first kernel of this
--                                           one, ns; no part of the time of a step; NULL for the first step, for a chosen one,
--                                           and where the times come from the profiler
-- kernel_count                     BIGINT   its own kernels: all of step.kernel_step; NULL where the times come from the
--                                           profiler
WITH measured_kernel AS (
    SELECT step_id, 'busy' AS what, start_ns, end_ns
    FROM step.kernel_time
    WHERE kind <> 'copy'
    UNION ALL
    SELECT step_id, 'busy or copying', start_ns, end_ns
    FROM step.kernel_time
    WHERE EXISTS (FROM step.kernel_step WHERE kind = 'copy')
    UNION ALL
    SELECT step_id, 'communication', start_ns, end_ns
    FROM step.kernel_time
    WHERE kind = 'communication'
    UNION ALL
    SELECT step_id, 'receive', start_ns, end_ns
    FROM step.kernel_time
    WHERE is_receive
),
added_time AS (
    SELECT step_id, what, start_ns, end_ns, added_ns
    FROM added(measured_kernel, (step_id, what))
),
added_of_step AS (
    SELECT
        step_id,
        (sum(added_ns) FILTER (what = 'busy'))::BIGINT AS busy_ns,
        (sum(added_ns) FILTER (what = 'busy or copying'))::BIGINT AS busy_or_copying_ns,
        (sum(added_ns) FILTER (what = 'communication'))::BIGINT AS communication_ns,
        (sum(added_ns) FILTER (what = 'receive'))::BIGINT AS bubble_ns
    FROM added_time
    GROUP BY step_id
),
computing AS (
    SELECT nullif(step_key, -9223372036854775808) AS step_id, max(covered_ns) AS computing_ns
    FROM step.computed
    GROUP BY step_key
),
-- Its own kernels, whoever has the turn.
span AS (
    SELECT step_id, min(start_ns) AS first_ns, max(end_ns) AS last_ns, count(*) AS kernel_count
    FROM step.kernel_step
    WHERE getvariable('step_id') IS NULL OR step_id = getvariable('step_id')
    GROUP BY step_id
),
turn AS (
    SELECT step_id, sum(end_ns - start_ns)::BIGINT AS turn_ns
    FROM step.turn
    GROUP BY step_id
),
-- Another step can have the turn all the time.
covered AS (
    SELECT
        span.step_id,
        span.first_ns,
        span.last_ns,
        if(
            EXISTS (FROM step.overlap) AND span.step_id IS NOT NULL, coalesce(turn.turn_ns, 0), span.last_ns - span.first_ns
        ) AS span_ns,
        span.kernel_count,
        coalesce(added_of_step.busy_ns, 0) AS busy_ns,
        coalesce(added_of_step.busy_or_copying_ns, added_of_step.busy_ns, 0) AS busy_or_copying_ns,
        coalesce(computing.computing_ns, 0) AS computing_ns,
        coalesce(added_of_step.communication_ns, 0) AS communication_ns,
        coalesce(added_of_step.bubble_ns, 0) AS bubble_ns
    FROM span
    LEFT JOIN turn USING (step_id)
    LEFT JOIN computing ON computing.step_id IS NOT DISTINCT FROM span.step_id
    LEFT JOIN added_of_step ON added_of_step.step_id IS NOT DISTINCT FROM span.step_id
),
-- From the end of all steps before on the device to the first kernel of a step.
between AS (
    SELECT step_id, max(last_ns) OVER before AS start_ns, first_ns AS end_ns
    FROM covered
    WHERE step_id IS NOT NULL
    WINDOW before AS (ORDER BY first_ns, last_ns, step_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
-- Kernels of no step can run there. Up to a moment they cover all that they add, less what of the longest one comes after it.
outside AS (
    SELECT
        start_ns,
        sum(sum(added_ns)) OVER (ORDER BY start_ns) AS covered_ns,
        max(max(end_ns)) OVER (ORDER BY start_ns) AS reached_ns
    FROM added_time
    WHERE step_id IS NULL
      AND what = if(EXISTS (FROM step.kernel_step WHERE kind = 'copy'), 'busy or copying', 'busy')
    GROUP BY start_ns
),
idle_before AS (
    SELECT
        between.step_id,
        between.end_ns - between.start_ns
            - coalesce(covered_until(at_end.covered_ns, at_end.reached_ns, between.end_ns), 0)
            + coalesce(covered_until(at_start.covered_ns, at_start.reached_ns, between.start_ns), 0) AS idle_ns
    FROM between
    ASOF LEFT JOIN outside AS at_end ON at_end.start_ns <= between.end_ns
    ASOF LEFT JOIN outside AS at_start ON at_start.start_ns <= between.start_ns
    WHERE between.end_ns > between.start_ns
),
host AS (
    SELECT
        (SELECT count(*) FROM trace.step) AS step_count,
        (SELECT min(op.start_ns) FROM trace.op) AS first_op_ns
),
step_begin AS (
    SELECT step_id, min(start_ns) AS start_ns, max(end_ns) - min(start_ns) AS host_ns
    FROM trace.step
    GROUP BY step_id
),
recorded_step AS (
    FROM trace.reported_step
    WHERE getvariable('step_id') IS NULL OR step_id = getvariable('step_id')
),
recorded_preparing AS (
    SELECT step_id, preparing_ns, file
    FROM recorded_step
    QUALIFY count(*) OVER (PARTITION BY step_id) = 1
),
with_begin AS (
    SELECT
        covered.*,
        covered.step_id IS NULL AND host.step_count > 0 AS is_of_no_step,
        -- On the clock of the device.
        CASE WHEN host.step_count > 0 THEN step_begin.start_ns ELSE host.first_op_ns END + clock.offset_ns AS begin_ns,
        step_begin.host_ns,
        recorded_preparing.preparing_ns AS recorded_preparing_ns,
        recorded_preparing.file AS recorded_in,
        if(between.start_ns IS NULL, NULL, coalesce(idle_before.idle_ns, 0))::BIGINT AS idle_before_ns
    FROM covered
    CROSS JOIN host
    -- All pairs: the offset of the clock is one row.
    CROSS JOIN clock.offset AS clock
    LEFT JOIN step_begin USING (step_id)
    LEFT JOIN recorded_preparing ON recorded_preparing.step_id IS NOT DISTINCT FROM covered.step_id
    LEFT JOIN between ON between.step_id = covered.step_id
    LEFT JOIN idle_before ON idle_before.step_id = covered.step_id
),
step AS (
    SELECT
        step_id,
        computing_ns,
        communication_ns,
        busy_ns - computing_ns AS communication_not_overlapped_ns,
        computing_ns + communication_ns - busy_ns AS overlapped_ns,
        CASE WHEN NOT is_of_no_step THEN span_ns - busy_or_copying_ns END AS free_ns,
        CASE WHEN NOT is_of_no_step THEN span_ns - bubble_ns END AS stage_ns,
        bubble_ns,
        CASE
            WHEN is_of_no_step OR first_ns < begin_ns - 500_000 THEN NULL
            WHEN begin_ns IS NULL THEN recorded_preparing_ns
            -- Clocks of host and device may differ by some tenths of a millisecond.
            ELSE greatest(first_ns - begin_ns, 0)
        END AS preparing_ns,
        'kernels' AS origin,
        CASE
            WHEN is_of_no_step THEN 'kernels of no step: their launch is not known, or was outside every step'
            WHEN first_ns < begin_ns - 500_000 THEN 'its first kernel ran before the host began, by what the profile records'
            WHEN begin_ns IS NOT NULL THEN NULL
            WHEN recorded_preparing_ns IS NOT NULL
                THEN format(
                    'preparing is what the profiler worked out ({}): the profile does not say when the host began', recorded_in
                )
            WHEN step_id IS NULL THEN 'no ops, so it is not known when the host began'
            ELSE 'the profile does not tell when the step began on the host'
        END AS reason,
        busy_or_copying_ns - busy_ns AS copying_not_overlapped_ns,
        host_ns,
        idle_before_ns,
        kernel_count
    FROM with_begin
    UNION ALL BY NAME
    SELECT
        recorded_step.* EXCLUDE (file),
        'profiler' AS origin,
        if(
            computing_ns + communication_ns + communication_not_overlapped_ns + overlapped_ns + free_ns + stage_ns + bubble_ns
                + preparing_ns IS NULL,
            'the profiler recorded no more of the step, and the profile has no kernels',
            NULL
        ) AS reason,
        NULL AS copying_not_overlapped_ns,
        step_begin.host_ns,
        NULL AS idle_before_ns,
        NULL AS kernel_count
    FROM recorded_step
    LEFT JOIN step_begin USING (step_id)
    WHERE NOT EXISTS (FROM step.kernel_step)
        AND coalesce(computing_ns, communication_ns, free_ns, stage_ns) IS NOT NULL
)
FROM step
ORDER BY step_id NULLS LAST, computing_ns DESC
