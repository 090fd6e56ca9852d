-- One row is an idle beginning or end of a recording without steps: a gap with less than a hundredth of the kernel time before
-- it, or after it. It takes more than half of the recording; or it takes more than a tenth, and its next kernel was launched
-- in the first tenth of it, or neither ops nor a launch that could say when are recorded. What the device did before the
-- recording, or does after it, is not recorded, so this time is no part of a step.
--
-- gap_id       BIGINT   a gap of free.gap
-- side         VARCHAR  beginning or end
-- duration_ns  BIGINT   its time, ns
-- share        DOUBLE   part of the time from the first kernel to the last
WITH span AS (
    SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM step.kernel_step
    WHERE NOT EXISTS (FROM trace.step)
),
long AS (
    SELECT
        gap.gap_id,
        gap.start_ns,
        gap.end_ns - gap.start_ns AS duration_ns,
        (gap.end_ns - gap.start_ns) / (span.end_ns - span.start_ns) AS share
    FROM free.gap
    CROSS JOIN span
    CROSS JOIN clock.offset AS clock
    JOIN free.request USING (gap_id)
    WHERE (gap.end_ns - gap.start_ns) * 2 > span.end_ns - span.start_ns
        OR (
            (gap.end_ns - gap.start_ns) * 10 > span.end_ns - span.start_ns
            AND (
                (coalesce(request.launch_end_ns, request.asked_ns) - gap.start_ns + clock.offset_ns) * 10
                < gap.end_ns - gap.start_ns
                OR coalesce(request.launch_end_ns, request.asked_ns) IS NULL AND NOT EXISTS (FROM trace.op)
            )
        )
),
run AS (
    SELECT
        long.gap_id,
        sum(kernel.end_ns - kernel.start_ns) AS all_ns,
        coalesce(sum(kernel.end_ns - kernel.start_ns) FILTER (kernel.start_ns < long.start_ns), 0) AS before_ns
    FROM step.kernel_step AS kernel
    -- All pairs: gaps that take a tenth of the recording are few.
    CROSS JOIN long
    GROUP BY long.gap_id
)
SELECT
    long.gap_id,
    if(run.before_ns * 100 < run.all_ns, 'beginning', 'end') AS side,
    long.duration_ns,
    long.share
FROM long
JOIN run USING (gap_id)
WHERE run.before_ns * 100 < run.all_ns OR run.before_ns * 100 > run.all_ns * 99
