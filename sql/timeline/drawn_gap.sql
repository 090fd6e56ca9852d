-- One row is a gap of the device in the picture of a step. Gaps that take less than a 400th of the step are one row with others
-- of their cause in the same 400th.
--
-- step_id           BIGINT   the step; NULL for the whole profile
-- cause             VARCHAR  the cause of most of its time
-- kernel_before_id  TEXT_ID  name of the kernel before it; NULL for several gaps
-- kernel_after_id   TEXT_ID  name of the kernel after it; NULL for several gaps
-- since_ns          BIGINT   start, ns since the step began
-- until_ns          BIGINT   end, ns since the step began
-- duration_ns       BIGINT   time of the gaps, ns
-- cause_ns          BIGINT   time of this cause, ns
-- row_count         BIGINT   gaps
WITH step AS (
    SELECT step_id, start_ns AS begin_ns, greatest((end_ns - start_ns) // 400, 1) AS slice_ns
    FROM timeline.step
),
gap AS (
    SELECT
        gap.* EXCLUDE (step_id),
        step.step_id,
        step.begin_ns,
        if(duration_ns < slice_ns, (start_ns - begin_ns) // slice_ns, -gap_id) AS slice
    FROM timeline.gap
    JOIN step ON step.step_id IS NOT DISTINCT FROM gap.step_id
)
SELECT
    step_id,
    cause,
    if(count(*) = 1, min(kernel_before_id), NULL) AS kernel_before_id,
    if(count(*) = 1, min(kernel_after_id), NULL) AS kernel_after_id,
    min(start_ns) - begin_ns AS since_ns,
    max(end_ns) - begin_ns AS until_ns,
    sum(duration_ns)::BIGINT AS duration_ns,
    sum(cause_ns)::BIGINT AS cause_ns,
    count(*) AS row_count
FROM gap
GROUP BY step_id, begin_ns, cause, slice
ORDER BY step_id, since_ns, cause
