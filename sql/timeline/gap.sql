-- One row is a gap of the device, a time without any kernel, in the order of time, with its cause: the activity of the host
-- meanwhile. With a step chosen, only the gaps of that step.
--
-- gap_id            BIGINT   a gap of free.gap
-- step_id           BIGINT   the step in whose time it lies; of several the one that ends last; NULL between steps, and without
--                             steps
-- start_ns          BIGINT   end of the kernel before it, Unix ns
-- end_ns            BIGINT   start of the kernel after it, Unix ns
-- duration_ns       BIGINT   end - start
-- cause             VARCHAR  the cause of most of its time; of equal ones the one that takes precedence in free.gap_cause
-- cause_ns          BIGINT   time of that cause, ns
-- causes            STRUCT(cause VARCHAR, duration_ns BIGINT)[]  all its causes, as in free.gap_cause, with their times, ns
-- kernel_before_id  TEXT_ID  name of the kernel before it
-- kernel_after_id   TEXT_ID  name of the kernel after it
WITH cause AS (
    SELECT
        gap_id,
        arg_max(cause, pair_key(duration_ns, -precedence)) AS cause,
        max(duration_ns) AS cause_ns,
        -- At 0.7 million gaps this takes 1.2 s of CPU, and a list ordered by precedence 2.1 s.
        list_transform(
            list_sort(list({'precedence': precedence, 'cause': cause, 'duration_ns': duration_ns})),
            lambda part: {'cause': part.cause, 'duration_ns': part.duration_ns}
        ) AS causes
    FROM free.gap_cause
    SEMI JOIN free.gap USING (gap_id)
    GROUP BY gap_id
),
-- Of the steps that began so far, the one that ends last.
last_step AS (
    SELECT
        first_gap_id,
        max(max(last_gap_id)) OVER so_far AS last_gap_id,
        arg_max(arg_max(step_id, (last_gap_id, step_id)), max(last_gap_id)) OVER so_far AS step_id
    FROM free.step_gap
    GROUP BY first_gap_id
    WINDOW so_far AS (ORDER BY first_gap_id ROWS UNBOUNDED PRECEDING)
),
-- Without the causes, whose lists each join would copy: with them this table takes 1.4 s of CPU more at a million kernels.
gap AS (
    SELECT
        gap.gap_id,
        if(gap.gap_id <= last_step.last_gap_id, last_step.step_id, NULL) AS step_id,
        gap.start_ns,
        gap.end_ns,
        kernel_before.name_id AS kernel_before_id,
        kernel_after.name_id AS kernel_after_id
    FROM free.gap
    JOIN trace.kernel AS kernel_before ON kernel_before.kernel_id = gap.kernel_before_id
    JOIN trace.kernel AS kernel_after ON kernel_after.kernel_id = gap.kernel_after_id
    ASOF LEFT JOIN last_step ON gap.gap_id >= last_step.first_gap_id
    WHERE getvariable('step_id') IS NULL OR gap.gap_id <= last_step.last_gap_id
)
SELECT
    gap.gap_id,
    gap.step_id,
    gap.start_ns,
    gap.end_ns,
    gap.end_ns - gap.start_ns AS duration_ns,
    cause.cause,
    cause.cause_ns,
    cause.causes,
    gap.kernel_before_id,
    gap.kernel_after_id
FROM gap
JOIN cause USING (gap_id)
ORDER BY gap.gap_id
