-- One row is a step and the gaps of the device that lie in its time, between the first start and the last end of its kernels,
-- or in a turn of it, where steps overlap on the device (step.turn). Gaps are numbered in the order of time, so those of a row
-- are consecutive. A gap lies in no step where it lies between two. Without steps all gaps lie in the whole profile.
--
-- @unique gap by start_ns: gaps do not overlap
-- @unique gap by end_ns: gaps do not overlap
--
-- step_id       BIGINT  a step of trace.step; NULL for the whole profile
-- first_gap_id  BIGINT  the first of these gaps, a gap of free.gap
-- last_gap_id   BIGINT  the last of these gaps, a gap of free.gap
WITH span AS (
    SELECT step_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM step.kernel_step
    WHERE step_id IS NULL OR NOT EXISTS (FROM step.overlap)
    GROUP BY step_id
    UNION ALL
    SELECT step_id, start_ns, end_ns
    FROM step.turn
),
timed_step AS (
    SELECT span.*
    FROM span
    JOIN step.time ON time.step_id IS NOT DISTINCT FROM span.step_id
    WHERE time.free_ns IS NOT NULL
),
step_and_gap AS (
    SELECT timed_step.step_id, timed_step.end_ns, gap.gap_id AS first_gap_id
    FROM timed_step
    ASOF JOIN free.gap ON timed_step.start_ns <= gap.start_ns
)
SELECT step_and_gap.step_id, step_and_gap.first_gap_id, gap.gap_id AS last_gap_id
FROM step_and_gap
ASOF JOIN free.gap ON step_and_gap.end_ns >= gap.end_ns
WHERE gap.gap_id >= step_and_gap.first_gap_id
