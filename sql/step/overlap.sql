-- One row is a step that begins on the device before all steps that began earlier there have ended: the host is ahead.
--
-- step_id     BIGINT  a step of trace.step
-- overlap_ns  BIGINT  how long before, ns
WITH span AS (
    SELECT step_id, min(start_ns) AS first_ns, max(end_ns) AS last_ns
    FROM step.kernel_step
    WHERE step_id IS NOT NULL
    GROUP BY step_id
),
with_earlier AS (
    SELECT step_id, first_ns, max(last_ns) OVER earlier AS reached_ns
    FROM span
    WINDOW earlier AS (ORDER BY first_ns, last_ns, step_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT step_id, reached_ns - first_ns AS overlap_ns
FROM with_earlier
WHERE reached_ns > first_ns
