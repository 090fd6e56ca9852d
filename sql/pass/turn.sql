-- One row is a stretch of the recording on the device, from its first kernel to its last: the time of a pass, or what lies
-- between, before or behind passes. They follow each other without gaps and overlaps. A pass lasts to the end of its last
-- kernel that is no copy; the next one begins then, if its first kernel ran before that, as its inputs do while the device is
-- behind.
--
-- @guard pass.kernel
--
-- pass_id   BIGINT  a pass of pass.instance; NULL between, before and behind passes
-- next_id   BIGINT  of a stretch of no pass, the pass that follows; NULL behind the last one, and for passes
-- start_ns  BIGINT  start, Unix ns
-- end_ns    BIGINT  end, Unix ns
WITH span AS (
    SELECT
        pass_id,
        min(kernel.start_ns) AS first_ns,
        coalesce(max(kernel.end_ns) FILTER (kernel.kind <> 'copy'), max(kernel.end_ns)) AS last_ns
    FROM pass.kernel AS pass_kernel
    JOIN trace.kernel USING (kernel_id)
    GROUP BY pass_id
),
turn AS (
    SELECT
        pass_id,
        greatest(first_ns, coalesce(lag(reached_ns) OVER (ORDER BY pass_id), first_ns)) AS start_ns,
        greatest(first_ns, reached_ns) AS end_ns
    FROM (
        SELECT *, max(last_ns) OVER (ORDER BY pass_id ROWS UNBOUNDED PRECEDING) AS reached_ns
        FROM span
    )
),
recording AS (
    SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM step.kernel_step
    WHERE getvariable('step_id') IS NULL OR step_id = getvariable('step_id')
),
outside AS (
    SELECT NULL AS pass_id, pass_id AS next_id, lag(end_ns) OVER (ORDER BY pass_id) AS start_ns, start_ns AS end_ns
    FROM turn
    UNION ALL
    SELECT NULL, NULL, max(turn.end_ns), recording.end_ns
    FROM turn
    CROSS JOIN recording
    GROUP BY recording.end_ns
)
SELECT pass_id, NULL AS next_id, start_ns, end_ns
FROM turn
UNION ALL
SELECT outside.pass_id, next_id, coalesce(outside.start_ns, recording.start_ns), outside.end_ns
FROM outside
CROSS JOIN recording
WHERE outside.end_ns > coalesce(outside.start_ns, recording.start_ns)
ORDER BY start_ns, end_ns
