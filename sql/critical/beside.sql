-- One row is a compute kernel, or a copy, beside which another one runs for some of its time. Communication does not count: it
-- keeps few cores busy, and waits.
--
-- kernel_id     BIGINT   a kernel of trace.kernel
-- is_copy       BOOLEAN  whether it is a copy
-- start_ns      BIGINT   start, Unix ns
-- end_ns        BIGINT   end, Unix ns
-- neighbour_id  BIGINT   the kernel beside it that runs for at least half of its time; of the one that ran on longest when it
--                        started and the next one to start, the one that runs longer beside it; NULL when neither does
WITH kernel AS (
    SELECT kernel_id, kind = 'copy' AS is_copy, start_ns, end_ns
    FROM step.kernel_step
    WHERE kind IN ('compute', 'copy')
    ORDER BY start_ns, end_ns, kernel_id
),
-- The windows over rows that are in order already are streamed.
kernel_in_order AS (
    SELECT
        *,
        max((end_ns, kernel_id)) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before,
        lead((start_ns, end_ns, kernel_id)) OVER () AS after
    FROM kernel
),
overlapping_kernel AS (
    SELECT
        kernel_id,
        is_copy,
        start_ns,
        end_ns,
        before[2] AS before_id,
        after[3] AS after_id,
        if(before IS NULL, 0, least(end_ns, before[1]) - start_ns) AS before_ns,
        if(after IS NULL, 0, least(end_ns, after[2]) - after[1]) AS after_ns
    FROM kernel_in_order
    WHERE before[1] > start_ns OR after[1] < end_ns
)
SELECT
    kernel_id,
    is_copy,
    start_ns,
    end_ns,
    CASE
        WHEN greatest(before_ns, after_ns) * 2 < end_ns - start_ns THEN NULL
        WHEN before_ns >= after_ns THEN before_id
        ELSE after_id
    END AS neighbour_id
FROM overlapping_kernel
