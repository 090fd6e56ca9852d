-- One row is a part of a gap in which the host did one thing. The parts of a gap add up to the gap, and those with one cause to
-- the time of that cause in free.gap_cause.
--
-- gap_id       BIGINT   a gap of free.gap
-- start_ns     BIGINT   start, Unix ns
-- end_ns       BIGINT   end, Unix ns
-- cause        VARCHAR  as in free.gap_cause
-- is_late      BOOLEAN  whether the host launched the next kernel only after the gap had begun: when the device became idle,
--                       nothing was left for it to do; false where a replayed graph goes on, and for so much of a gap as the
--                       device usually takes before a kernel that was launched in time
-- op_id        BIGINT   up to the request for the next kernel, the innermost op that the host thread ran; from the request on,
--                       the op that launched the kernel; an op of trace.op, NULL when there is none
-- interval_id  BIGINT   in the same way the innermost interval of module.interval; NULL when there is none
-- host_api_id  BIGINT   the outermost call of trace.host_api that has a role, on the thread that requested the kernel, and from
--                       the request on on the thread that launches it, until it has; NULL when there is none
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
            AND (before.launch_id = after.launch_id) IS NOT TRUE AS is_late,
        after.kernel_id
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
late_end AS (
    SELECT gap.gap_id, if(gap.is_late, greatest(gap.launched_ns, gap.end_ns - usual.gap_ns), gap.launched_ns) AS late_end_ns
    FROM gap
    CROSS JOIN usual
),
-- Phases of a gap: up to the request, up to the end of the launch, and after it, where the device would usually have started
-- and where it would not have.
phase AS (
    SELECT gap_id, 1 AS phase, tid, start_ns, asked_ns AS end_ns
    FROM gap
    WHERE asked_ns > start_ns AND tid IS NOT NULL
    UNION ALL
    SELECT gap_id, 2, launch_tid, asked_ns, launched_ns
    FROM gap
    WHERE launched_ns > asked_ns AND tid IS NOT NULL
    UNION ALL
    SELECT gap.gap_id, 3, NULL, gap.launched_ns, late_end.late_end_ns
    FROM gap
    JOIN late_end USING (gap_id)
    WHERE gap.tid IS NOT NULL AND late_end.late_end_ns > gap.launched_ns
    UNION ALL
    SELECT gap.gap_id, 4, NULL, if(gap.tid IS NULL, gap.start_ns, late_end.late_end_ns), gap.end_ns
    FROM gap
    JOIN late_end USING (gap_id)
    WHERE gap.tid IS NULL OR gap.end_ns > late_end.late_end_ns
),
aspect AS (
    SELECT DISTINCT tid, aspect
    FROM free.host_state
),
on_thread AS (
    SELECT gap_id, phase, tid, start_ns, end_ns
    FROM phase
    WHERE tid IS NOT NULL
),
wanted AS (
    SELECT on_thread.gap_id, on_thread.phase, on_thread.tid, on_thread.start_ns, aspect.aspect
    FROM on_thread
    JOIN aspect USING (tid)
    WHERE on_thread.phase = 1 OR aspect.aspect = 7
),
-- The state when a phase begins, and each state that begins within it; -1 in place of nothing, since NULL is for what did not
-- change.
moment AS (
    SELECT wanted.gap_id, wanted.phase, wanted.start_ns AS at_ns, wanted.aspect, coalesce(host_state.state, -1) AS state
    FROM wanted
    ASOF JOIN free.host_state
        ON host_state.tid = wanted.tid AND host_state.aspect = wanted.aspect AND host_state.at_ns <= wanted.start_ns
    UNION ALL
    SELECT on_thread.gap_id, on_thread.phase, host_state.at_ns, host_state.aspect, coalesce(host_state.state, -1)
    FROM free.host_state
    ASOF JOIN on_thread ON on_thread.tid = host_state.tid AND host_state.at_ns > on_thread.start_ns
    WHERE host_state.at_ns < on_thread.end_ns AND (on_thread.phase = 1 OR host_state.aspect = 7)
    UNION ALL
    SELECT gap_id, phase, start_ns, NULL, NULL
    FROM phase
),
changed AS (
    SELECT
        gap_id,
        phase,
        at_ns,
        max(state) FILTER (aspect = 1) AS collecting,
        max(state) FILTER (aspect = 2) AS up_to_waiting,
        max(state) FILTER (aspect = 3) AS up_to_loading,
        max(state) FILTER (aspect = 4) AS up_to_op,
        max(state) FILTER (aspect = 5) AS op_id,
        max(state) FILTER (aspect = 6) AS interval_id,
        max(state) FILTER (aspect = 7) AS host_api_id
    FROM moment
    GROUP BY gap_id, phase, at_ns
),
known AS (
    SELECT
        gap_id,
        phase,
        at_ns AS start_ns,
        lead(at_ns) OVER in_phase AS next_ns,
        last_value(collecting IGNORE NULLS) OVER so_far AS collecting,
        last_value(up_to_waiting IGNORE NULLS) OVER so_far AS up_to_waiting,
        last_value(up_to_loading IGNORE NULLS) OVER so_far AS up_to_loading,
        last_value(up_to_op IGNORE NULLS) OVER so_far AS up_to_op,
        last_value(op_id IGNORE NULLS) OVER so_far AS op_id,
        last_value(interval_id IGNORE NULLS) OVER so_far AS interval_id,
        last_value(host_api_id IGNORE NULLS) OVER so_far AS host_api_id
    FROM changed
    WINDOW
        in_phase AS (PARTITION BY gap_id, phase ORDER BY at_ns),
        so_far AS (PARTITION BY gap_id, phase ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
),
requesting AS (
    SELECT gap.gap_id, kernel_op.op_id, op_interval.interval_id
    FROM gap
    JOIN module.kernel_op USING (kernel_id)
    LEFT JOIN module.op_interval USING (op_id)
)
SELECT
    known.gap_id,
    known.start_ns,
    coalesce(known.next_ns, phase.end_ns) AS end_ns,
    CASE
        WHEN gap.tid IS NULL THEN 'launch not recorded'
        WHEN known.phase > 1 THEN 'between queue and device'
        WHEN known.collecting = 1 THEN 'garbage collection'
        WHEN known.up_to_waiting = 1 THEN 'waiting in a synchronise'
        WHEN known.up_to_loading = 1 THEN 'data loading'
        WHEN known.up_to_op = 1 THEN 'inside an op'
        ELSE 'nothing recorded'
    END AS cause,
    coalesce(gap.is_late, false) AND known.phase < 4 AS is_late,
    if(known.phase = 1, nullif(known.op_id, -1), requesting.op_id) AS op_id,
    if(known.phase = 1, nullif(known.interval_id, -1), requesting.interval_id) AS interval_id,
    nullif(known.host_api_id, -1) AS host_api_id
FROM known
JOIN phase USING (gap_id, phase)
JOIN gap USING (gap_id)
LEFT JOIN requesting USING (gap_id)
