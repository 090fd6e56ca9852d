-- One row is a phase of a gap: up to the request for the next kernel, up to the end of its launch, and after that. The phases
-- of a gap add up to it.
--
-- gap_id    BIGINT   a gap of free.gap
-- phase     INTEGER  1 up to the request; 2 up to the end of the launch; 3 after it, before the time that the device usually
--                    takes for a kernel launched in time; 4 that time; 5 all of a gap whose request is not recorded
-- tid       BIGINT   host thread that the device waited for: in phase 1 the one that requested the kernel, in 2 the one that
--                    launched it; else NULL
-- start_ns  BIGINT   start, Unix ns
-- end_ns    BIGINT   end, Unix ns
-- is_late   BOOLEAN  whether the host launched the next kernel only after the gap had begun, as in free.host_part
WITH gap AS (
    SELECT
        gap.gap_id,
        gap.start_ns,
        gap.end_ns,
        request.tid,
        request.launch_tid,
        least(greatest(request.asked_ns, gap.start_ns), gap.end_ns) AS asked_ns,
        least(greatest(request.launch_end_ns, request.asked_ns, gap.start_ns), gap.end_ns) AS launched_ns,
        coalesce(request.launch_end_ns, request.asked_ns) > gap.start_ns
            AND (before.launch_id = after.launch_id) IS NOT TRUE AS is_late
    FROM free.gap
    JOIN free.request USING (gap_id)
    JOIN trace.kernel AS before ON before.kernel_id = gap.kernel_before_id
    JOIN trace.kernel AS after ON after.kernel_id = gap.kernel_after_id
),
-- How long the device usually takes to start a kernel that it had before the gap.
usual AS (
    SELECT coalesce(quantile_disc(end_ns - start_ns, 0.5) FILTER (NOT is_late), 0) AS gap_ns
    FROM gap
),
ended AS (
    SELECT gap.*, if(gap.is_late, greatest(gap.launched_ns, gap.end_ns - usual.gap_ns), gap.launched_ns) AS late_end_ns
    FROM gap
    CROSS JOIN usual
)
SELECT gap_id, 1 AS phase, tid, start_ns, asked_ns AS end_ns, coalesce(is_late, false) AS is_late
FROM ended
WHERE asked_ns > start_ns AND tid IS NOT NULL
UNION ALL
SELECT gap_id, 2, launch_tid, asked_ns, launched_ns, coalesce(is_late, false)
FROM ended
WHERE launched_ns > asked_ns AND tid IS NOT NULL
UNION ALL
SELECT gap_id, 3, NULL, launched_ns, late_end_ns, coalesce(is_late, false)
FROM ended
WHERE tid IS NOT NULL AND late_end_ns > launched_ns
UNION ALL
SELECT gap_id, 4, NULL, late_end_ns, end_ns, false
FROM ended
WHERE tid IS NOT NULL AND end_ns > late_end_ns
UNION ALL
SELECT gap_id, 5, NULL, start_ns, end_ns, false
FROM ended
WHERE tid IS NULL
