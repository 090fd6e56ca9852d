-- One row is a gap: a time between kernels in which the device ran neither a compute kernel nor a communication operator, of
-- any step.
--
-- gap_id            BIGINT  the id, counted from 1 in the order of time
-- start_ns          BIGINT  end of the kernel before it, Unix ns
-- end_ns            BIGINT  start of the kernel after it, Unix ns
-- kernel_before_id  BIGINT  the kernel that ended last before it; of several the one that started last, of these the last by
--                           name
-- kernel_after_id   BIGINT  the kernel that ended it; of several the one that itself ended first, of these the first by name
WITH busy AS (
    SELECT start_ns, lag(end_ns) OVER (ORDER BY start_ns, end_ns) AS end_before_ns
    FROM step.stretch
    WHERE kind = 'busy'
),
gap AS (
    SELECT row_number() OVER (ORDER BY start_ns) AS gap_id, end_before_ns AS start_ns, start_ns AS end_ns
    FROM busy
    WHERE end_before_ns IS NOT NULL
),
candidate AS (
    SELECT kernel_step.kernel_id, kernel_step.start_ns, kernel_step.end_ns, coalesce(name.text, '') AS name
    FROM step.kernel_step
    JOIN trace.kernel AS named USING (kernel_id)
    LEFT JOIN trace.string AS name ON name.text_id = named.name_id
),
kernel_before AS (
    SELECT gap.gap_id, arg_max(candidate.kernel_id, (candidate.start_ns, candidate.name, candidate.kernel_id)) AS kernel_id
    FROM gap
    JOIN candidate ON candidate.end_ns = gap.start_ns
    GROUP BY gap.gap_id
),
kernel_after AS (
    SELECT gap.gap_id, arg_min(candidate.kernel_id, (candidate.end_ns, candidate.name, candidate.kernel_id)) AS kernel_id
    FROM gap
    JOIN candidate ON candidate.start_ns = gap.end_ns
    GROUP BY gap.gap_id
)
SELECT
    gap.gap_id,
    gap.start_ns,
    gap.end_ns,
    kernel_before.kernel_id AS kernel_before_id,
    kernel_after.kernel_id AS kernel_after_id
FROM gap
JOIN kernel_before USING (gap_id)
JOIN kernel_after USING (gap_id)
