-- One row is a phase of a gap: up to the request for the next kernel, up to the end of its launch, and after that. The phases
-- of a gap add up to it.
--
-- gap_id    BIGINT   a gap of free.gap
-- phase     INTEGER  1 up to the request; 2 up to the end of the launch; 3 after it, where the kernel waits for something else
--                    than the host, or for a launch that is not recorded; 4 the time in which the device starts the kernel; 5
--                    all of a gap whose request is not recorded
-- tid       BIGINT   host thread that the device waited for: in phase 1 the one that requested the kernel, in 2 the one that
--                    launched it; else NULL
-- start_ns  BIGINT   start, Unix ns, on the clock of the host
-- end_ns    BIGINT   end, Unix ns, on the clock of the host
-- is_late   BOOLEAN  whether the host launched the next kernel only after the gap had begun, as in free.host_part
-- cause     VARCHAR  of the phases after the first one, the cause of free.gap_cause; else NULL
--
-- A device that is idle starts a kernel within some microseconds, and within 0.1 ms where the profiler reads counters before
-- it. Whatever takes longer than that, and than ten times what is usual on the rank, is no start.
WITH within_launch AS (
    SELECT gap.gap_id
    FROM free.gap
    JOIN trace.kernel AS before ON before.kernel_id = gap.kernel_before_id
    JOIN trace.kernel AS after ON after.kernel_id = gap.kernel_after_id
    WHERE before.launch_id = after.launch_id
),
-- What is_late alone needs is no join, which would be done where nothing reads it, too: 1.0 s in place of 1.4 at a million
-- kernels.
gap AS (
    SELECT
        gap.gap_id,
        gap.start_ns - clock.offset_ns AS start_ns,
        gap.end_ns - clock.offset_ns AS end_ns,
        request.tid,
        request.launch_tid,
        least(greatest(request.asked_ns, gap.start_ns - clock.offset_ns), gap.end_ns - clock.offset_ns) AS asked_ns,
        least(
            greatest(request.launch_end_ns, request.asked_ns, gap.start_ns - clock.offset_ns), gap.end_ns - clock.offset_ns
        ) AS launched_ns,
        coalesce(
            coalesce(request.launch_end_ns, request.asked_ns) > gap.start_ns - clock.offset_ns
            AND gap.gap_id NOT IN (FROM within_launch),
            false
        ) AS is_late
    FROM free.gap
    -- All pairs: the offset of the clock is one row.
    CROSS JOIN clock.offset AS clock
    JOIN free.request USING (gap_id)
),
-- How long the device usually takes to start a kernel. Where that is longer than any start, nearly all kernels wait.
usual AS (
    SELECT if(median_ns <= 300_000, median_ns, 0) AS start_ns
    FROM (SELECT quantile_disc(end_ns - launched_ns, 0.5) AS median_ns FROM gap WHERE tid IS NOT NULL) AS behind
),
started AS (
    SELECT
        gap.*,
        if(
            gap.end_ns - gap.launched_ns > greatest(100_000, 10 * usual.start_ns), gap.end_ns - usual.start_ns, gap.launched_ns
        ) AS waited_ns
    FROM gap
    CROSS JOIN usual
    WHERE gap.tid IS NOT NULL
)
SELECT gap_id, 1 AS phase, tid, start_ns, asked_ns AS end_ns, is_late, NULL AS cause
FROM started
WHERE asked_ns > start_ns
UNION ALL
SELECT gap_id, 2, launch_tid, asked_ns, launched_ns, is_late, 'between queue and device'
FROM started
WHERE launched_ns > asked_ns
UNION ALL
SELECT
    started.gap_id,
    3,
    NULL,
    started.launched_ns,
    started.waited_ns,
    started.is_late,
    CASE
        WHEN awaited.gap_id IS NOT NULL THEN 'waiting for another stream or event'
        WHEN started.launch_tid IS NULL THEN 'between queue and device'
        ELSE 'unknown after the launch'
    END
FROM started
LEFT JOIN free.awaited USING (gap_id)
WHERE started.waited_ns > started.launched_ns
UNION ALL
SELECT gap_id, 4, NULL, waited_ns, end_ns, is_late, 'between queue and device'
FROM started
WHERE end_ns > waited_ns
UNION ALL
SELECT gap_id, 5, NULL, start_ns, end_ns, false, 'launch not recorded'
FROM gap
WHERE tid IS NULL
