-- One row is a gap: a time between kernels in which the device ran neither a compute kernel nor a communication operator, of
-- any step.
--
-- gap_id            BIGINT  the id, counted from 1 in the order of time
-- start_ns          BIGINT  end of the kernel before it, Unix ns
-- end_ns            BIGINT  start of the kernel after it, Unix ns
-- kernel_before_id  BIGINT  the kernel that ended last before it; of several the one that started last, of these the last by
--                           name
-- kernel_after_id   BIGINT  the kernel that ended it; of several the one that itself ended first, of these the first by name
WITH name AS (
    SELECT named.name_id, dense_rank() OVER (ORDER BY coalesce(string.text, '')) AS name_order
    FROM (SELECT DISTINCT name_id FROM trace.kernel) AS named
    LEFT JOIN trace.string ON string.text_id = named.name_id
),
-- The windows over rows that are in order already are streamed: at a million kernels this takes 0.3 s of CPU, and to look for
-- the kernels at the ends of busy stretches of step.stretch 1.3 to 1.9 s.
kernel AS (
    SELECT kernel_step.kernel_id, kernel_step.start_ns, kernel_step.end_ns
    FROM step.kernel_step
    JOIN trace.kernel AS named USING (kernel_id)
    JOIN name ON name.name_id IS NOT DISTINCT FROM named.name_id
    ORDER BY kernel_step.start_ns, kernel_step.end_ns, name.name_order, kernel_step.kernel_id
),
kernel_in_order AS (
    SELECT *, max(end_ns) OVER (ROWS UNBOUNDED PRECEDING) AS reached_ns
    FROM kernel
),
-- The kernels that end last of all that started so far: a gap lies between one of them and the next.
last_so_far AS (
    SELECT kernel_id, start_ns, lag(end_ns) OVER () AS end_before_ns, lag(kernel_id) OVER () AS kernel_before_id
    FROM kernel_in_order
    WHERE end_ns = reached_ns
)
SELECT
    row_number() OVER () AS gap_id,
    end_before_ns AS start_ns,
    start_ns AS end_ns,
    kernel_before_id,
    kernel_id AS kernel_after_id
FROM last_so_far
WHERE start_ns > end_before_ns
