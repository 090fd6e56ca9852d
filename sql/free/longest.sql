-- One row is one of the 100 longest gaps of the steps, or of the chosen step, with its main cause and the moment for which the
-- host's calls are looked up.
--
-- position  BIGINT   1 for the longest
-- step_id   BIGINT   the step in whose time it lies; of several the first; NULL without steps
-- gap_id    BIGINT   a gap of free.gap
-- start_ns  BIGINT   start, Unix ns
-- end_ns    BIGINT   end, Unix ns
-- cause     VARCHAR  the cause of most of its time; of equal ones the one that takes precedence in free.gap_cause
-- cause_ns  BIGINT   time of that cause, ns
-- tid       BIGINT   host thread that requested the next kernel; NULL when not recorded
-- at_ns     BIGINT   the middle of the time from the start of the gap to the request for the next kernel, or the moment of the
--                    request where that came before the gap, on the clock of the host; NULL when not recorded
WITH last_gap AS (
    SELECT first_gap_id, max(max(last_gap_id)) OVER (ORDER BY first_gap_id ROWS UNBOUNDED PRECEDING) AS last_gap_id
    FROM free.step_gap
    GROUP BY first_gap_id
),
longest AS (
    SELECT gap.gap_id, gap.start_ns, gap.end_ns
    FROM free.gap
    ASOF JOIN last_gap ON gap.gap_id >= last_gap.first_gap_id
    WHERE gap.gap_id <= last_gap.last_gap_id
    ORDER BY gap.end_ns - gap.start_ns DESC, gap.gap_id
    LIMIT 100
),
step_of AS (
    SELECT longest.gap_id, min(step_gap.step_id) AS step_id
    FROM longest
    -- All pairs: the longest gaps are 100.
    JOIN free.step_gap ON longest.gap_id BETWEEN step_gap.first_gap_id AND step_gap.last_gap_id
    GROUP BY longest.gap_id
),
main_cause AS (
    SELECT gap_id, arg_max(cause, (duration_ns, -precedence)) AS cause, max(duration_ns) AS cause_ns
    FROM free.gap_cause
    SEMI JOIN longest USING (gap_id)
    GROUP BY gap_id
)
SELECT
    row_number() OVER (ORDER BY longest.end_ns - longest.start_ns DESC, longest.gap_id) AS position,
    step_of.step_id,
    longest.gap_id,
    longest.start_ns,
    longest.end_ns,
    main_cause.cause,
    main_cause.cause_ns,
    request.tid,
    CASE
        WHEN request.asked_ns <= longest.start_ns - clock.offset_ns THEN request.asked_ns
        WHEN request.asked_ns IS NOT NULL
            THEN longest.start_ns - clock.offset_ns
            + (least(request.asked_ns, longest.end_ns - clock.offset_ns) - longest.start_ns + clock.offset_ns) // 2
    END AS at_ns
FROM longest
JOIN step_of USING (gap_id)
JOIN main_cause USING (gap_id)
JOIN free.request USING (gap_id)
CROSS JOIN clock.offset AS clock
