-- One row is a gap of the device and a step in whose time it lies, between the first start and the last end of the step's
-- kernels. A gap lies in two steps where their kernels interleave, and in none between them. Without steps all gaps lie in the
-- whole profile.
--
-- step_id  BIGINT  a step of trace.step; NULL for the whole profile
-- gap_id   BIGINT  a gap of free.gap
WITH span AS (
    SELECT step_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM step.kernel
    WHERE getvariable('step_id') IS NULL OR step_id = getvariable('step_id')
    GROUP BY step_id
),
counted AS (
    SELECT span.*
    FROM span
    JOIN step.time ON time.step_id IS NOT DISTINCT FROM span.step_id
    WHERE time.free_ns IS NOT NULL
)
SELECT counted.step_id, gap.gap_id
FROM counted
JOIN free.gap ON gap.start_ns >= counted.start_ns AND gap.end_ns <= counted.end_ns
