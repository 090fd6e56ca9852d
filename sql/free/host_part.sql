-- One row is a part of a gap in which the host did one thing. The parts of a gap add up to the gap, and those with one cause to
-- the time of that cause in free.gap_cause.
--
-- @unique on_thread by start_ns, tid: gaps do not overlap, nor do their phases
--
-- gap_id       BIGINT   a gap of free.gap
-- start_ns     BIGINT   start, Unix ns, on the clock of the host
-- end_ns       BIGINT   end, Unix ns, on the clock of the host
-- cause        VARCHAR  as in free.gap_cause
-- is_late      BOOLEAN  whether the host launched the next kernel only after the gap had begun: when the device became idle,
--                       nothing was left for it to do; false where a replayed graph goes on, and at an edge of the recording
-- is_launched  BOOLEAN  whether it comes after the end of the launch
-- op_id        BIGINT   up to the request for the next kernel, the innermost op that the host thread ran; from the request on,
--                       the op that launched the kernel; an op of trace.op, NULL without one, and where nothing inside a
--                       wrapper (free.wrapper) ran
-- interval_id  BIGINT   in the same way the innermost interval of module.interval; from the request on that of the kernel; NULL
--                       without one
-- host_api_id  BIGINT   the outermost call of trace.host_api that has a role, on the thread that requested the kernel, and from
--                       the request on on the thread that launches it, until it has; NULL without one
WITH on_thread AS (
    SELECT gap_id * 2 + phase - 1 AS key, phase, tid, start_ns, end_ns, is_late
    FROM free.host_phase
    WHERE tid IS NOT NULL
),
aspect AS (
    SELECT DISTINCT tid, aspect
    FROM free.host_state
),
wanted_moment AS (
    SELECT on_thread.key, on_thread.tid, on_thread.start_ns, aspect.aspect
    FROM on_thread
    -- All pairs: a thread has seven aspects at most.
    JOIN aspect USING (tid)
    WHERE on_thread.phase = 1 OR aspect.aspect = 7
),
-- The state when a phase begins, and each state that begins within it; -1 in place of nothing, since NULL is for what did not
-- change.
moment AS (
    SELECT wanted_moment.key, wanted_moment.start_ns AS at_ns, wanted_moment.aspect, coalesce(host_state.state, -1) AS state
    FROM wanted_moment
    ASOF JOIN free.host_state
        ON host_state.tid = wanted_moment.tid
        AND host_state.aspect = wanted_moment.aspect
        AND host_state.at_ns <= wanted_moment.start_ns
    UNION ALL
    SELECT on_thread.key, host_state.at_ns, host_state.aspect, coalesce(host_state.state, -1)
    FROM free.host_state
    ASOF JOIN on_thread ON on_thread.tid = host_state.tid AND host_state.at_ns > on_thread.start_ns
    WHERE host_state.at_ns < on_thread.end_ns AND (on_thread.phase = 1 OR host_state.aspect = 7)
    UNION ALL
    SELECT key, start_ns, NULL, NULL
    FROM on_thread
),
changed AS (
    SELECT
        key,
        at_ns,
        max(state) FILTER (aspect = 1) AS collecting,
        max(state) FILTER (aspect = 2) AS up_to_waiting,
        max(state) FILTER (aspect = 3) AS up_to_loading,
        max(state) FILTER (aspect = 4) AS up_to_op,
        max(state) FILTER (aspect = 5) AS op_id,
        max(state) FILTER (aspect = 6) AS interval_id,
        max(state) FILTER (aspect = 7) AS host_api_id
    FROM moment
    GROUP BY key, at_ns
),
known_part AS (
    SELECT
        key,
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
        in_phase AS (PARTITION BY key ORDER BY at_ns),
        so_far AS (PARTITION BY key ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
),
part AS (
    SELECT
        known_part.key // 2 AS gap_id,
        known_part.start_ns,
        coalesce(known_part.next_ns, on_thread.end_ns) AS end_ns,
        on_thread.is_late,
        on_thread.phase,
        known_part.* EXCLUDE (key, start_ns, next_ns)
    FROM known_part
    JOIN on_thread USING (key)
),
-- Most phases lie after the launch: nothing of the host divides them.
from_request AS (
    SELECT
        gap_id,
        start_ns,
        end_ns,
        'between queue and device' AS cause,
        is_late,
        false AS is_launched,
        nullif(host_api_id, -1) AS host_api_id
    FROM part
    WHERE phase = 2
    UNION ALL
    -- Where the launch is not recorded, a long wait for it is no start.
    SELECT gap_id, start_ns, end_ns, cause, is_late, phase < 5 AND (phase <> 3 OR cause <> 'between queue and device'), NULL
    FROM free.host_phase
    WHERE phase > 2
),
up_to_request AS (
    SELECT
        gap_id,
        start_ns,
        end_ns,
        CASE
            WHEN collecting = 1 THEN 'garbage collection'
            WHEN up_to_waiting = 1 THEN 'waiting in a synchronise'
            WHEN up_to_loading = 1 THEN 'data loading'
            WHEN up_to_op = 1 THEN 'inside an op'
            ELSE 'nothing recorded'
        END AS cause,
        is_late,
        op_id,
        interval_id,
        host_api_id
    FROM part
    WHERE phase = 1
),
explained_part AS (
    SELECT
        gap_id,
        start_ns,
        end_ns,
        cause,
        is_late,
        false AS is_launched,
        if(cause = 'nothing recorded', NULL, nullif(op_id, -1)) AS op_id,
        nullif(interval_id, -1) AS interval_id,
        nullif(host_api_id, -1) AS host_api_id
    FROM up_to_request
    UNION ALL
    SELECT
        from_request.gap_id,
        from_request.start_ns,
        from_request.end_ns,
        from_request.cause,
        from_request.is_late,
        from_request.is_launched,
        kernel_op.host_op_id AS op_id,
        op_interval.interval_id,
        from_request.host_api_id
    FROM from_request
    JOIN free.gap USING (gap_id)
    JOIN trace.kernel ON kernel.kernel_id = gap.kernel_after_id
    LEFT JOIN module.kernel_op ON kernel_op.kernel_id = gap.kernel_after_id
    LEFT JOIN module.bare_launch ON bare_launch.launch_id = kernel.launch_id
    LEFT JOIN trace.replayed_kernel ON replayed_kernel.kernel_id = gap.kernel_after_id
    LEFT JOIN module.op_interval ON op_interval.op_id = coalesce(replayed_kernel.op_id, kernel_op.op_id, bare_launch.op_id)
)
SELECT
    explained_part.gap_id,
    explained_part.start_ns,
    explained_part.end_ns,
    if(
        edge.gap_id IS NOT NULL
        AND explained_part.cause NOT IN (
            'garbage collection', 'waiting in a synchronise', 'data loading', 'inside an op', 'between queue and device'
        ),
        'edge of the recording',
        explained_part.cause
    ) AS cause,
    explained_part.is_late AND edge.gap_id IS NULL AS is_late,
    explained_part.is_launched,
    explained_part.op_id,
    explained_part.interval_id,
    explained_part.host_api_id
FROM explained_part
LEFT JOIN free.edge USING (gap_id)
